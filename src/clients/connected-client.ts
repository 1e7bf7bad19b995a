import type { Dialect, TakenSteps } from '../workspace-files/index.ts';
import type { ClientScope } from './client.ts';

/** What `qm connect` did to one file. */
export interface ConnectedFile {
  readonly path: string;
  readonly dialect: Dialect;
  /** False: the command created it. */
  readonly existed: boolean;
  /** The first folder that the command created for it. */
  readonly madeFolder?: string | undefined;
  readonly steps: TakenSteps;
}

/** A connection of a client to the hub of a workspace, with everything that undoing it needs. It may hold secrets. */
export interface ClientConnection {
  readonly client: string;
  readonly agent: string;
  /** The name of the entry for the hub. */
  readonly entry: string;
  /** The file that holds it. */
  readonly file: string;
  readonly scope: ClientScope;
  readonly transport: 'stdio' | 'http';
  /** In milliseconds since 1970. */
  readonly connectedAt: number;
  readonly files: readonly ConnectedFile[];
  readonly switchedOff: readonly SwitchedEntry[];
}

/** An entry of the client for a server of the hub. */
export interface SwitchedEntry {
  readonly server: string;
  /** Its key in the file of the client. */
  readonly key: string;
  readonly file: string;
  readonly how: 'setting' | 'removed' | 'moved';
}

/** Keeps the connections of a workspace. */
export interface ConnectionStore {
  /** All that can be read. */
  list(): Promise<readonly ClientConnection[]>;
  save(connection: ClientConnection): Promise<void>;
  remove(client: string): Promise<void>;
  /** Keeps a copy of a file and returns its path. */
  backUp(file: string, bytes: Uint8Array): Promise<string>;
}
