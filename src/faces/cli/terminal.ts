import type { Writable } from 'node:stream';
import { type Colours, createColours } from './colours.ts';
import { safeLine } from './printable.ts';

/** Where results and remarks go. Results are stdout's alone. */
export interface Terminal {
  /** One line of result. Here and below, characters that a terminal would obey or not show are escaped. */
  out(line: string): void;
  /** Content as it is, for a program that reads it. */
  raw(text: string): void;
  /** One line for people. */
  err(line: string): void;
  /** Rewrites the last line of stderr; nothing where stderr is not a terminal. */
  progress(line: string): void;
  /** The same for several lines, none longer than `size` tells; the cursor is hidden until they are wiped. */
  live(lines: readonly string[]): void;
  /** False where lines cannot be rewritten, or nobody would see it. */
  readonly motion: boolean;
  /** Of stderr, as it is now. */
  size(): { readonly columns: number; readonly rows: number };
  readonly outIsTerminal: boolean;
  readonly errIsTerminal: boolean;
  /** Columns of stdout; undefined where lines may be as long as they like. */
  readonly width: number | undefined;
  readonly colours: Colours;
  readonly errColours: Colours;
  /** Stderr itself, for what a person types into. */
  readonly errStream: Writable;
  /** Aborts when nobody reads stdout any more, as after `| head`. */
  readonly gone: AbortSignal;
}

export interface TerminalStream extends Writable {
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly rows?: number;
}

export function createTerminal(
  streams: { readonly stdout: TerminalStream; readonly stderr: TerminalStream },
  env: Readonly<Record<string, string | undefined>>,
): Terminal {
  const { stdout, stderr } = streams;
  const gone = new AbortController();
  stdout.on('error', () => gone.abort());
  stderr.on('error', () => {});
  const smart = env.TERM !== 'dumb';
  const colourful = (env.NO_COLOR ?? '') === '' && smart;
  const errIsTerminal = stderr.isTTY === true;
  // An unattended job may have a terminal all the same, and its log keeps every frame.
  const attended = ['', 'false', '0'].includes(env.CI ?? '');
  const motion = errIsTerminal && stdout.isTTY === true && smart && attended;
  /** Lines of stderr that will be rewritten; the cursor is behind the last one, or below them when it is hidden. */
  let drawn = 0;
  let hidden = false;

  function size(): { columns: number; rows: number } {
    return { columns: stderr.columns ?? 80, rows: stderr.rows ?? 24 };
  }

  function wipe(): void {
    if (hidden) stderr.write(`${up(drawn)}\u001b[J\u001b[?25h`);
    else if (drawn > 0) stderr.write('\r\u001b[K');
    [drawn, hidden] = [0, false];
  }

  function raw(text: string): void {
    wipe();
    if (!gone.signal.aborted) stdout.write(`${text}\n`);
  }

  return {
    out: (line) => raw(safeLine(line)),
    raw,
    err(line) {
      wipe();
      stderr.write(`${safeLine(line)}\n`);
    },
    progress(line) {
      if (!errIsTerminal || !smart) return;
      wipe();
      if (line === '') return;
      stderr.write(safeLine(line).slice(0, size().columns - 1));
      drawn = 1;
    },
    live(lines) {
      if (!motion || lines.length === 0) {
        wipe();
        return;
      }
      if (!hidden) wipe();
      // One write for the whole frame, each line over its old self: nothing flickers.
      const frame = lines.map((line) => `${safeLine(line)}\u001b[K\n`).join('');
      stderr.write(`${hidden ? up(drawn) : '\u001b[?25l'}${frame}\u001b[J`);
      [drawn, hidden] = [lines.length, true];
    },
    motion,
    size,
    outIsTerminal: stdout.isTTY === true,
    errIsTerminal,
    width: stdout.isTTY === true ? stdout.columns : undefined,
    colours: createColours(colourful && stdout.isTTY === true),
    errColours: createColours(colourful && errIsTerminal),
    errStream: stderr,
    gone: gone.signal,
  };
}

function up(lines: number): string {
  return lines === 0 ? '\r' : `\r\u001b[${lines}A`;
}
