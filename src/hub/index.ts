export { createHub, type Hub, type HubDeps, type HubOptions } from './create-hub.ts';
