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
export type { ConnectedFile, Connection, ConnectionStore, SwitchedOff } from './connection.ts';
export { findClient, knownClients } from './known-clients.ts';
