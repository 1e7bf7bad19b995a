import type { StderrLogs } from '../upstream/index.ts';
import type { Redaction } from './redaction.ts';

/** A line that a server wrote to stderr, without secrets. */
export interface ServerLogLine {
  readonly seq: number;
  readonly at: number;
  readonly pid: number;
  readonly text: string;
}

/** What servers wrote to stderr, for the operator. */
export interface ServerLogs {
  /** Kept lines with a higher number, oldest first. */
  after(server: string, seq: number): readonly ServerLogLine[];
  /** Called after lines were added. Returns a function that ends it. */
  onLines(server: string, listener: () => void): () => void;
}

/** Redacts when it is read: a secret may be learned after it was written. */
export function createServerLogs(stderr: StderrLogs, redaction: Pick<Redaction, 'line'>): ServerLogs {
  return {
    after: (server, seq) => stderr.after(server, seq).map((line) => ({ ...line, text: redaction.line(line.text) })),
    onLines: (server, listener) => stderr.onLines(server, listener),
  };
}
