import type { Writable } from 'node:stream';
import { safeLine } from './printable.ts';

/** The last lines of a terminal, written over and over. Wipe them before anything else is written. */
export class RewrittenLines {
  readonly #stream: Writable;
  /** The cursor is at the end of the last of these lines, or below them when it is hidden. */
  #drawn = 0;
  #hidden = false;

  constructor(stream: Writable) {
    this.#stream = stream;
  }

  /** Shows one line, cut to `width`, with the cursor at its end. */
  showLine(line: string, width: number): void {
    this.wipe();
    if (line === '') return;
    this.#stream.write(safeLine(line).slice(0, width));
    this.#drawn = 1;
  }

  /** Shows several lines and hides the cursor until they are wiped. */
  showFrame(lines: readonly string[]): void {
    if (!this.#hidden) this.wipe();
    // One write for the whole frame, each line over its previous version, to avoid flicker.
    const frame = lines.map((line) => `${safeLine(line)}\u001b[K\n`).join('');
    this.#stream.write(`${this.#hidden ? up(this.#drawn) : '\u001b[?25l'}${frame}\u001b[J`);
    [this.#drawn, this.#hidden] = [lines.length, true];
  }

  wipe(): void {
    if (this.#hidden) this.#stream.write(`${up(this.#drawn)}\u001b[J\u001b[?25h`);
    else if (this.#drawn > 0) this.#stream.write('\r\u001b[K');
    [this.#drawn, this.#hidden] = [0, false];
  }
}

function up(lines: number): string {
  return lines === 0 ? '\r' : `\r\u001b[${lines}A`;
}
