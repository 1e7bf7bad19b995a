export {
  type Client,
  type ClientContext,
  type ClientEntry,
  type ClientFile,
  type ClientScope,
  clientScopes,
  type FileSteps,
  type HubEntry,
  type ProjectText,
  type SwitchOrder,
} from './client.ts';
export type { ClientConnection, ConnectedFile, ConnectionStore, SwitchedEntry } from './connected-client.ts';
export { findClient, knownClients } from './known-clients.ts';
