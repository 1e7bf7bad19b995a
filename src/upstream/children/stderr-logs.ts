import { StringDecoder } from 'node:string_decoder';
import type { Clock } from '../../base/index.ts';

/** One line that a server wrote to stderr, as it was written: redact it before you show it. */
export interface StderrLine {
  /** Grows by one with each line of the server. */
  readonly seq: number;
  readonly at: number;
  readonly pid: number;
  readonly text: string;
}

/** The last lines that the processes of each server wrote to stderr, within bounds. */
export interface StderrLogs {
  /** Takes what one process of a server writes. */
  open(server: string, pid: number): StderrWriter;
  /** Kept lines with a higher number, oldest first. */
  after(server: string, seq: number): readonly StderrLine[];
  /** Called after lines were added. Returns a function that ends it. */
  onLines(server: string, listener: () => void): () => void;
}

export interface StderrWriter {
  push(chunk: Buffer): void;
  /** The process has ended: what it wrote last counts as a line. */
  end(): void;
}

export interface StderrBounds {
  readonly lines: number;
  /** Of one server, in characters. */
  readonly serverLength: number;
  /** Of all servers together. */
  readonly length: number;
  /** Of one line. Readers cut it further, and need the rest to recognise a secret at the cut. */
  readonly lineLength: number;
}

const usualBounds: StderrBounds = {
  lines: 1000,
  serverLength: 64 * 1024,
  length: 8 * 1024 * 1024,
  lineLength: 12 * 1024,
};

/** Of a larger chunk only the end is read, so that a flood costs little. */
const maxChunk = 16 * 1024;

export function createStderrLogs(
  { clock }: { readonly clock: Pick<Clock, 'now'> },
  bounds: StderrBounds = usualBounds,
): StderrLogs {
  return new BoundedLogs(clock, bounds);
}

interface ServerLog {
  lines: StderrLine[];
  length: number;
  seq: number;
}

class BoundedLogs implements StderrLogs {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #bounds: StderrBounds;
  /** The server that wrote last comes last. */
  readonly #logs = new Map<string, ServerLog>();
  readonly #listeners = new Map<string, Set<() => void>>();
  #length = 0;

  constructor(clock: Pick<Clock, 'now'>, bounds: StderrBounds) {
    this.#clock = clock;
    this.#bounds = bounds;
  }

  open(server: string, pid: number): StderrWriter {
    return new LineWriter(this.#bounds.lineLength, (lines) => this.#add(server, pid, lines));
  }

  after(server: string, seq: number): readonly StderrLine[] {
    return this.#logs.get(server)?.lines.filter((line) => line.seq > seq) ?? [];
  }

  onLines(server: string, listener: () => void): () => void {
    const all = this.#listeners.get(server) ?? new Set();
    this.#listeners.set(server, all.add(listener));
    return () => {
      all.delete(listener);
      if (all.size === 0 && this.#listeners.get(server) === all) this.#listeners.delete(server);
    };
  }

  #add(server: string, pid: number, texts: readonly string[]): void {
    const log = this.#logs.get(server) ?? { lines: [], length: 0, seq: 0 };
    this.#logs.delete(server);
    this.#logs.set(server, log);
    const at = this.#clock.now();
    for (const text of texts) {
      log.seq += 1;
      log.lines.push({ seq: log.seq, at, pid, text });
      log.length += text.length;
      this.#length += text.length;
    }
    this.#drop(log);
    this.#dropServers(server);
    for (const listener of this.#listeners.get(server) ?? []) listener();
  }

  #drop(log: ServerLog): void {
    const { lines, serverLength } = this.#bounds;
    let first = Math.max(0, log.lines.length - lines);
    let length = log.lines.slice(0, first).reduce((sum, { text }) => sum + text.length, 0);
    while (log.length - length > serverLength) length += log.lines[first++]?.text.length ?? 0;
    if (first === 0) return;
    log.lines = log.lines.slice(first);
    log.length -= length;
    this.#length -= length;
  }

  /** Those that have been silent longest go first. Their numbers go on, so that a reader notices. */
  #dropServers(writing: string): void {
    for (const [server, log] of this.#logs) {
      if (this.#length <= this.#bounds.length || server === writing) return;
      this.#length -= log.length;
      this.#logs.delete(server);
      this.#logs.set(server, { lines: [], length: 0, seq: log.seq });
    }
  }
}

class LineWriter implements StderrWriter {
  readonly #maxLength: number;
  readonly #onLines: (lines: readonly string[]) => void;
  #decoder = new StringDecoder('utf8');
  #begun = '';
  /** The beginning of this line was not read, so that a secret in it could not be recognised. */
  #isTorn = false;

  constructor(maxLength: number, onLines: (lines: readonly string[]) => void) {
    this.#maxLength = maxLength;
    this.#onLines = onLines;
  }

  push(chunk: Buffer): void {
    if (chunk.length > maxChunk) {
      this.#decoder = new StringDecoder('utf8');
      this.#begun = '';
      this.#isTorn = true;
    }
    const [first = '', ...rest] = this.#decoder.write(chunk.subarray(-maxChunk)).split('\n');
    this.#extend(first);
    if (rest.length === 0) return;
    const complete = [...(this.#isTorn ? [] : [this.#begun]), ...rest.slice(0, -1)];
    this.#isTorn = false;
    this.#begun = '';
    this.#extend(rest.at(-1) ?? '');
    this.#tell(complete);
  }

  end(): void {
    this.#extend(this.#decoder.end());
    if (!this.#isTorn) this.#tell([this.#begun]);
    this.#begun = '';
  }

  #extend(text: string): void {
    if (this.#begun.length < this.#maxLength) this.#begun += text.slice(0, this.#maxLength - this.#begun.length);
  }

  #tell(lines: readonly string[]): void {
    const written = lines.map((line) => line.slice(0, this.#maxLength).trimEnd()).filter((line) => line !== '');
    if (written.length > 0) this.#onLines(written);
  }
}
