import type { TransportKind } from './fleet.ts';

/** The words that command line, API, metrics and page share for a server's state. */
export const serverStates = [
  'connected',
  'idle',
  'connecting',
  'retrying',
  'needs-login',
  'forbidden',
  'open-circuit',
  'quarantined',
  'disabled',
  'invalid',
] as const;

export type ServerState = (typeof serverStates)[number];

export interface ServerStatus {
  readonly name: string;
  readonly state: ServerState;
  readonly transport: TransportKind | undefined;
  readonly protocolVersion: string | undefined;
  readonly tools: number | undefined;
  readonly source: string;
  /** Places of weaker servers of the same name. */
  readonly hides: readonly string[];
  readonly description: string | undefined;
  /** What went wrong last, and when the next attempt is due. */
  readonly error: string | undefined;
  readonly retryAt: number | undefined;
  readonly attempt: number | undefined;
}

/** How busy a server is at one moment, over all connections that its callers have. */
export interface ServerLoad {
  readonly name: string;
  readonly connections: number;
  /** Calls that were taken on and have not ended. */
  readonly underWay: number;
  /** Those of them that wait for another client's calls to end. */
  readonly waiting: number;
  /** Written for the server and not taken by it yet. */
  readonly queuedBytes: number;
}
