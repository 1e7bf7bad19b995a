export { createSseEndpoint, type SseEndpoint, type SseEndpointDeps } from './endpoint.ts';
