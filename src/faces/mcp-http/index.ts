export { createMcpEndpoint, type McpEndpoint, type McpEndpointDeps } from './endpoint.ts';
export { createGuard, type Guard } from './guard.ts';
export { readHeaders } from './known-headers.ts';
export { sendRefusal } from './response.ts';
