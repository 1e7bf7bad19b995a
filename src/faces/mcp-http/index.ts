export { isPreflight, sendPreflight, shareWith } from './cors.ts';
export { createMcpEndpoint, type McpEndpoint, type McpEndpointDeps } from './endpoint.ts';
export { createGuard, type Guard } from './guard.ts';
export { readHeaders } from './known-headers.ts';
export { metadataPaths, resourceMetadata } from './protected-resource.ts';
export { sendJson, sendRefusal, sendStatus } from './response.ts';
