export { type Gateway, type GatewayDeps, type GatewayOptions, openGateway } from './gateway.ts';
