import type { FileHandle } from 'node:fs/promises';
import { isJsonObject } from '../../base/index.ts';
import { openSegment } from '../journal/segments.ts';
import { journalFolder, type LedgerPlaces } from '../places.ts';
import { datedSegments } from './journal-calls.ts';

/** A record of the journal that is no call: an act of a person or of the hub. */
export interface RecordedEvent {
  /** ISO 8601 in UTC. */
  readonly ts: string;
  readonly who: string;
  readonly how: string;
  readonly what: string;
  readonly subject: string;
  readonly detail?: string;
  readonly failed?: true;
}

/** The newest acts, newest last. Reads a gigabyte at the speed of the disk, since it parses no call. */
export async function readEvents(places: LedgerPlaces, limit: number): Promise<RecordedEvent[]> {
  const folder = journalFolder(places);
  let found: RecordedEvent[] = [];
  const segments = await datedSegments(folder);
  for (const [index, { name }] of segments.entries()) {
    const handle = await openSegment(folder, name);
    if (handle === undefined) continue;
    try {
      for await (const line of eventLines(handle)) found.push(...eventOf(line));
    } finally {
      await handle.close();
    }
    found = found.sort((a, b) => (a.ts < b.ts ? -1 : a.ts > b.ts ? 1 : 0)).slice(-limit);
    const until = segments[index + 1]?.changedAt ?? -Infinity;
    if (found.length === limit && Date.parse(found[0]?.ts ?? '') > until) break;
  }
  return found;
}

/** The act in a line of the journal. Empty if it has none. */
export function eventOf(line: string): RecordedEvent[] {
  if (!beginnings.some((text) => line.startsWith(text))) return [];
  const record = parse(line);
  const { k, ts } = record;
  if (typeof ts !== 'string') return [];
  const text = (name: string): string => (typeof record[name] === 'string' ? record[name] : '');
  const byHub = { ts, who: 'hub', how: 'hub' };
  if (k === 'pruned') {
    return [
      { ...byHub, what: 'retention.pruned', subject: `file ${text('life')}.${record.file}`, detail: text('why') },
    ];
  }
  if (k === 'pruned-run') {
    return [{ ...byHub, what: 'retention.pruned', subject: `run ${text('run')}`, detail: text('why') }];
  }
  if (k === 'sealed') {
    const detail = `${record.lines} records kept, ${record.cut} bytes cut`;
    return [{ ...byHub, what: 'journal.sealed', subject: 'the file of a hub that died', detail }];
  }
  const detail = text('detail');
  const more = { ...(detail === '' ? {} : { detail }), ...(record.failed === true ? { failed: true as const } : {}) };
  return [{ ts, who: text('who'), how: text('how'), what: text('what'), subject: text('subject'), ...more }];
}

const beginnings = ['{"k":"admin"', '{"k":"pruned"', '{"k":"pruned-run"', '{"k":"sealed"'];
const needles = beginnings.map((text) => Buffer.from(text));
const newline = 10;
const chunkBytes = 1024 * 1024;

/** Lines of chunks that contain an act. Other chunks are not decoded. */
async function* eventLines(handle: FileHandle): AsyncGenerator<string> {
  const buffer = Buffer.allocUnsafe(chunkBytes);
  let rest = Buffer.alloc(0);
  for (let position = 0; ; ) {
    const { bytesRead } = await handle.read(buffer, 0, chunkBytes, position);
    if (bytesRead === 0) return;
    position += bytesRead;
    const bytes = Buffer.concat([rest, buffer.subarray(0, bytesRead)]);
    const end = bytes.lastIndexOf(newline) + 1;
    const whole = bytes.subarray(0, end);
    rest = bytes.subarray(end);
    if (needles.some((needle) => whole.includes(needle))) yield* whole.toString('utf8').split('\n');
  }
}

function parse(line: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(line);
    return isJsonObject(value) ? value : {};
  } catch {
    return {};
  }
}
