export { Authenticator } from './authenticator.ts';
export { BatchAnswers } from './batch-answers.ts';
export type { ByteLimits } from './client-bytes.ts';
export { isPreflight, sendPreflight, shareWith } from './cors.ts';
export type { Exchange } from './exchange.ts';
export { createGuard, type Guard } from './guard.ts';
export { McpEndpoint, type McpEndpointDeps } from './mcp-endpoint.ts';
export { metadataPaths, resourceMetadata } from './protected-resource.ts';
export type { KnownHeaders } from './requests/known-headers.ts';
export { LeanRequest } from './requests/lean-request.ts';
export { pickRequest } from './requests/pick-request.ts';
export { PlainRequest } from './requests/plain-request.ts';
export { bodyOf, readPosted } from './requests/posted.ts';
export {
  type EventStream,
  keepAliveMs,
  openEventStream,
  refuseRequest,
  sendJson,
  sendRefusal,
  sendStatus,
} from './response.ts';
export {
  type ClientSession,
  ClientSessions,
  type SessionFacts,
} from './sessions/client-sessions.ts';
