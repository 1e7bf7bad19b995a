import type { Readable, Writable } from 'node:stream';
import type { Clock, Logger } from '../../base/index.ts';
import type { BuiltinTransport } from '../../domain/index.ts';

/** A server on a pair of streams, whatever runs behind them. The streams are Node's own, with their backpressure. */
export interface Peer {
  readonly stdin: Writable;
  readonly stdout: Readable;
  /** Never rejects. */
  readonly exited: Promise<PeerExit>;
  /** Asks it to end; resolves when nothing of it is left. */
  stop(): Promise<void>;
  /** Ends it at once; `stop()` tells when everything is gone. */
  kill(): void;
}

export interface PeerExit {
  /** Neither code nor signal: it was no process of its own. */
  readonly code: number | null;
  readonly signal: string | null;
  readonly stderrTail: string;
}

/** Opens the servers that come with the product. They know nothing of hubs, so whoever makes a hub hands this in. */
export interface Builtins {
  /** Rejects with a HubError where it cannot work as it was ordered. */
  open(order: BuiltinOrder, deps: { readonly clock: Clock; readonly logger: Logger }): Promise<Peer>;
}

export type BuiltinOrder = Omit<BuiltinTransport, 'type'>;
