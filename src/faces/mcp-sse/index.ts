export { SseEndpoint, type SseEndpointDeps } from './sse-endpoint.ts';
