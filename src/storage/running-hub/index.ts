export { checkControlSocket, listenOnControlSocket } from './control-socket.ts';
export { boundHubLog, hubLogPath, openHubLog } from './hub-log.ts';
export {
  type HubRole,
  readServeFile,
  removeServeFile,
  type ServeFile,
  writeServeFile,
} from './serve-file.ts';
export { keepServedPort, readServedPort } from './served-port.ts';
export { findServingHub } from './serving-hub.ts';
export { type ClaimOptions, claimWorkspace } from './workspace-claim.ts';
