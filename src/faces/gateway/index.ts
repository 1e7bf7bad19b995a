export { type Gateway, type GatewayDeps, type GatewayOptions, type GatewayTimeouts, openGateway } from './gateway.ts';
