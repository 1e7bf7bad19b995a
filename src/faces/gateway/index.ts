export { type Gateway, type GatewayDeps, type GatewayOptions, openGateway } from './gateway.ts';
export type { GatewayTimeouts } from './http-server.ts';
