export {
  type Client,
  type ClientEntry,
  type ClientFile,
  type ClientScope,
  type ClientSurroundings,
  clientScopes,
  type EntryDraft,
  type FileSteps,
  type ProjectText,
  type SwitchOff,
} from './client.ts';
export type { ClientConnection, ConnectedFile, ConnectionStore, SwitchedOff } from './client-connection.ts';
export { findClient, knownClients } from './known-clients.ts';
