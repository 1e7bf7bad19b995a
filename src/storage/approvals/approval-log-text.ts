import { HubError } from '../../base/index.ts';
import type { TextSeal } from '../../vault/index.ts';
import { type LogRecord, logHeaderSchema, logRecordSchema, sealedLineSchema } from './approval-document.ts';

/** Names one version of the log's file: a line of another one does not open. */
export interface LogHeader {
  /** Of one life of the hub. */
  readonly epoch: string;
  /** Grows each time the file is written anew. */
  readonly generation: number;
}

export function logHeaderText({ epoch, generation }: LogHeader): string {
  return `${JSON.stringify({ approvals: 1, epoch, generation })}\n`;
}

/** One record, sealed for its place in the file. */
export function recordLine(seal: TextSeal, header: LogHeader, n: number, record: LogRecord): string {
  return `${JSON.stringify({ n, sealed: seal.seal(placeName(header, n), JSON.stringify(record)) })}\n`;
}

export interface ReadLog {
  readonly header: LogHeader;
  readonly records: readonly LogRecord[];
  /** The end of the last complete line, in bytes. */
  readonly size: number;
}

/** Throws if anything but the end is damaged. An incomplete last line was never acknowledged, so it is left out. */
export function readLog(seal: TextSeal, bytes: Buffer): ReadLog {
  const size = bytes.lastIndexOf('\n') + 1;
  const [first = '', ...lines] = bytes.toString('utf8', 0, size).split('\n').slice(0, -1);
  const { epoch, generation } = logHeaderSchema.parse(JSON.parse(first));
  const header = { epoch, generation };
  const records = lines.map((line, index): LogRecord => {
    const { n, sealed } = sealedLineSchema.parse(JSON.parse(line));
    const text = n === index + 1 ? seal.open(placeName(header, n), sealed) : undefined;
    if (text === undefined) throw new HubError('INTERNAL', `Line ${index + 2} does not belong here or was changed.`);
    return logRecordSchema.parse(JSON.parse(text));
  });
  return { header, records, size };
}

function placeName({ epoch, generation }: LogHeader, n: number): string {
  return `${epoch} ${generation} ${n}`;
}
