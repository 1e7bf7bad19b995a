export { type ClientSession, type ClientSessions, createClientSessions, type SessionFacts } from './client-sessions.ts';
export { isPreflight, sendPreflight, shareWith } from './cors.ts';
export { createMcpEndpoint, type McpEndpoint, type McpEndpointDeps } from './endpoint.ts';
export type { Exchange } from './exchange.ts';
export { createGuard, type Guard } from './guard.ts';
export type { KnownHeaders } from './known-headers.ts';
export { LeanRequest } from './lean-request.ts';
export { pickRequest } from './pick-request.ts';
export type { PlainRequest } from './plain-request.ts';
export { bodyOf, readPosted } from './posted.ts';
export { metadataPaths, resourceMetadata } from './protected-resource.ts';
export { createReception, type Reception } from './reception.ts';
export {
  type EventStream,
  keepAliveMs,
  openEventStream,
  refuse,
  sendJson,
  sendRefusal,
  sendStatus,
} from './response.ts';
