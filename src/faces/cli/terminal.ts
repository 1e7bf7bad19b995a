import type { Writable } from 'node:stream';
import { type Colours, createColours } from './colours.ts';

/** Where results and remarks go. Results are stdout's alone. */
export interface Terminal {
  /** One line of result. */
  out(line: string): void;
  /** One line for people. */
  err(line: string): void;
  /** Rewrites the last line of stderr; nothing where stderr is not a terminal. */
  progress(line: string): void;
  readonly outIsTerminal: boolean;
  readonly errIsTerminal: boolean;
  /** Columns of stdout; undefined where lines may be as long as they like. */
  readonly width: number | undefined;
  readonly colours: Colours;
  readonly errColours: Colours;
  /** Aborts when nobody reads stdout any more, as after `| head`. */
  readonly gone: AbortSignal;
}

export interface TerminalStream extends Writable {
  readonly isTTY?: boolean;
  readonly columns?: number;
}

export function createTerminal(
  streams: { readonly stdout: TerminalStream; readonly stderr: TerminalStream },
  env: Readonly<Record<string, string | undefined>>,
): Terminal {
  const { stdout, stderr } = streams;
  const gone = new AbortController();
  stdout.on('error', () => gone.abort());
  stderr.on('error', () => {});
  const colourful = (env.NO_COLOR ?? '') === '' && env.TERM !== 'dumb';
  const errIsTerminal = stderr.isTTY === true;
  let drawn = false;

  function wipe(): void {
    if (drawn) stderr.write('\r\u001b[K');
    drawn = false;
  }

  return {
    out(line) {
      wipe();
      if (!gone.signal.aborted) stdout.write(`${line}\n`);
    },
    err(line) {
      wipe();
      stderr.write(`${line}\n`);
    },
    progress(line) {
      if (!errIsTerminal) return;
      wipe();
      if (line === '') return;
      stderr.write(line.slice(0, (stderr.columns ?? 80) - 1));
      drawn = true;
    },
    outIsTerminal: stdout.isTTY === true,
    errIsTerminal,
    width: stdout.isTTY === true ? stdout.columns : undefined,
    colours: createColours(colourful && stdout.isTTY === true),
    errColours: createColours(colourful && errIsTerminal),
    gone: gone.signal,
  };
}
