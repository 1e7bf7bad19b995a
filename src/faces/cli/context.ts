import type { Readable, Writable } from 'node:stream';
import type { Clock, RandomBytes } from '../../base/index.ts';
import type { Mask } from './mask.ts';
import type { Signals } from './signals.ts';
import type { Terminal } from './terminal.ts';

/** What a command may touch of the process it runs in. */
export interface CliContext {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly stdin: Readable & { readonly isTTY?: boolean };
  /** Raw, for the stdio protocol alone. */
  readonly stdout: Writable;
  readonly terminal: Terminal;
  readonly signals: Signals;
  readonly clock: Clock;
  readonly random: RandomBytes;
  readonly mask: Mask;
  /** How this program was called, for commands to copy. */
  readonly program: string;
  /** Says how the command ended; without it, well. */
  exitWith(code: number): void;
}
