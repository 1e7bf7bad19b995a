import type { Writable } from 'node:stream';
import { type Colours, createColours } from './colours.ts';
import { safeLine } from './printable.ts';
import { RewrittenLines } from './rewritten-lines.ts';
import { wrapLine } from './wrap.ts';

/** Output for results and messages. Only results go to stdout. */
export interface Terminal {
  /** Prints one line of the result. Here and below, characters that a terminal would obey or not show are escaped. */
  out(line: string): void;
  /** Prints content unchanged, for a program that reads it. */
  raw(text: string): void;
  /** Prints a sentence of the result, wrapped between words on a terminal. */
  say(line: string): void;
  /** Prints one line for people, wrapped between words on a terminal. */
  err(line: string): void;
  /** The same without wrapping: a command to copy, or lines that are laid out already. */
  errWhole(line: string): void;
  /** Rewrites the last line of stderr; does nothing if stderr is not a terminal. */
  progress(line: string): void;
  /** The same for several lines, none longer than `size` allows. The cursor is hidden until they are wiped. */
  live(lines: readonly string[]): void;
  /** False if lines cannot be rewritten, or if nobody would see it. */
  readonly motion: boolean;
  /** The current size of stderr. */
  size(): { readonly columns: number; readonly rows: number };
  readonly outIsTerminal: boolean;
  readonly errIsTerminal: boolean;
  /** The columns of stdout; undefined if lines may have any length. */
  readonly width: number | undefined;
  readonly colours: Colours;
  readonly errColours: Colours;
  /** Stderr itself, for interactive prompts. */
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
  const [outIsTerminal, errIsTerminal] = [stdout.isTTY === true, stderr.isTTY === true];
  // An unattended job may have a terminal too, and its log would keep every frame.
  const attended = ['', 'false', '0'].includes(env.CI ?? '');
  const motion = errIsTerminal && outIsTerminal && smart && attended;
  const lines = new RewrittenLines(stderr);
  const size = () => ({ columns: stderr.columns ?? 80, rows: stderr.rows ?? 24 });

  function raw(text: string): void {
    lines.wipe();
    if (!gone.signal.aborted) stdout.write(`${text}\n`);
  }

  function errWhole(line: string): void {
    lines.wipe();
    stderr.write(`${safeLine(line)}\n`);
  }

  return {
    out: (line) => raw(safeLine(line)),
    raw,
    say(line) {
      for (const part of outIsTerminal ? wrapLine(line, stdout.columns ?? 80) : [line]) raw(safeLine(part));
    },
    err(line) {
      const parts = errIsTerminal ? line.split('\n').flatMap((part) => wrapLine(part, size().columns)) : [line];
      for (const part of parts) errWhole(part);
    },
    errWhole,
    progress(line) {
      if (errIsTerminal && smart) lines.showLine(line, size().columns - 1);
    },
    live(frame) {
      if (motion && frame.length > 0) lines.showFrame(frame);
      else lines.wipe();
    },
    motion,
    size,
    outIsTerminal,
    errIsTerminal,
    width: outIsTerminal ? stdout.columns : undefined,
    colours: createColours(colourful && outIsTerminal),
    errColours: createColours(colourful && errIsTerminal),
    errStream: stderr,
    gone: gone.signal,
  };
}
