import type { Readable, Writable } from 'node:stream';
import type { Clock, Logger } from '../../base/index.ts';
import type { BuiltinTransportSpec } from '../../domain/index.ts';

/** A server on a pair of streams. The streams are Node's own, with their backpressure. */
export interface ChildStreams {
  readonly stdin: Writable;
  readonly stdout: Readable;
  /** Never rejects. */
  readonly exited: Promise<ChildExit>;
  /** Ends it gracefully. Resolves when all its processes are gone. */
  stop(): Promise<void>;
  /** Ends it at once. `stop()` resolves when everything is gone. */
  kill(): void;
}

export interface ChildExit {
  /** Null, as is the signal, if it was not a process of its own. */
  readonly code: number | null;
  readonly signal: string | null;
  readonly stderrTail: string;
}

/** Opens the built-in servers. The creator of a hub passes this in, so that upstream need not import them. */
export interface Builtins {
  /** Rejects with a HubError if the server cannot work with these settings. */
  open(order: BuiltinOrder, deps: { readonly clock: Clock; readonly logger: Logger }): Promise<ChildStreams>;
}

export type BuiltinOrder = Omit<BuiltinTransportSpec, 'type'>;
