import type { Readable, Writable } from 'node:stream';
import type { Clock, RandomBytes } from '../../base/index.ts';
import type { Signals } from './signals.ts';
import type { Mask } from './terminal/mask.ts';
import type { Terminal } from './terminal/terminal.ts';

/** What a hub in the background tells the command that started it. */
export type ParentMessage =
  | { readonly kind: 'ready' }
  | {
      readonly kind: 'failed';
      readonly code: string;
      readonly message: string;
      readonly hint?: string;
      /** Another hub serves the workspace. */
      readonly served: boolean;
    };

/** Everything a command may use of its process and of its command line. */
export interface CliContext extends CliProcess {
  /** Whether the command line has `--`, after which come words of another program. */
  readonly hasDashes: boolean;
  /** Sets the exit code; the default is 0. */
  exitWith(code: number): void;
}

export interface CliProcess {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly stdin: Readable & { readonly isTTY?: boolean };
  /** Raw, only for the stdio protocol. */
  readonly stdout: Writable;
  readonly terminal: Terminal;
  readonly signals: Signals;
  readonly clock: Clock;
  readonly random: RandomBytes;
  readonly mask: Mask;
  /** How this program was called, for commands to copy. */
  readonly program: string;
  /** How to start this program again. */
  readonly self: readonly [command: string, ...args: string[]];
  /** A message to the program that started this one, if that listens. */
  tellParent(message: ParentMessage): void;
}
