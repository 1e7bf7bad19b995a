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
