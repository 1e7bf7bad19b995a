import type { TransportKind } from './configuration.ts';

/** Server states, by the names that the command line, API, metrics and web page share. */
export const serverStates = [
  'connected',
  'idle',
  'connecting',
  'retrying',
  'needs-login',
  'forbidden',
  'open-circuit',
  'quarantined',
  'untrusted',
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
  /** How many definitions differ from the accepted ones. Absent: none. */
  readonly changes?: number;
  /** How many definitions agents do not get, because they are not the accepted ones. Absent: none. */
  readonly withheld?: number;
  readonly source: string;
  /** Places of servers with the same name and lower precedence. */
  readonly hides: readonly string[];
  readonly description: string | undefined;
  /** The last error. */
  readonly error: string | undefined;
  readonly retryAt: number | undefined;
  readonly attempt: number | undefined;
}

/** The current load of a server, over all its connections. */
export interface ServerLoad {
  readonly name: string;
  readonly connections: number;
  /** Calls accepted and not finished. */
  readonly inFlight: number;
  /** Of these, the calls that wait for another client's calls to end. */
  readonly waiting: number;
  /** Written for the server and not accepted by it yet. */
  readonly queuedBytes: number;
}
