import { chainEnd, chainStart } from '../journal/chain.ts';
import { endedCall } from '../journal/journal-reader.ts';
import { eventOf, type RecordedEvent } from '../reading/admin-events.ts';
import { recordedCall } from '../reading/read-calls.ts';
import type { CallLine } from '../records/call-line.ts';
import { recordHead } from '../records/record-head.ts';
import type { ExportedWrite } from './export-writes.ts';

export interface ExportFormat {
  /** For a write that is not exported, if a later one needs it. */
  readonly learn?: (write: ExportedWrite) => void;
  /** The lines to export. */
  readonly lines: (write: ExportedWrite) => string[];
}

/** The journal as it is, with its `chain` records, so that the receiver can compute the chain again. */
export function jsonlFormat(): ExportFormat {
  return {
    lines: ({ chain, lines }) => [...lines, chainStart(chain.seq, chain.records) + chain.hash + chainEnd.trimEnd()],
  };
}

/** One CEF event for each call that ended and for each act, with the write that recorded it. */
export function cefFormat(version: string): ExportFormat {
  const starts = new Map<string, string>();
  const lines: ExportFormat['lines'] = (write) =>
    write.lines.flatMap((line) => {
      const at = `${write.chain.hash}@${write.chain.seq}`;
      const head = recordHead(line);
      if (head === undefined) return eventOf(line).map((event) => cefEvent(event, at, version));
      if (head.kind === 'sent' || head.kind === 'held') {
        starts.set(head.id, line);
        return [];
      }
      const start = starts.get(head.id) ?? line;
      starts.delete(head.id);
      const recorded = recordedCall({ parse: () => endedCall(start, line) });
      return recorded === undefined ? [] : [cefLine(recorded.call, at, version)];
    });
  return { learn: (write) => void lines(write), lines };
}

function cefLine(call: CallLine, head: string, version: string): string {
  const name = call.server === null ? call.tool : `${call.server}.${call.tool}`;
  const severity = call.status === 'ok' ? 1 : call.outcome === 'denied' || call.outcome === 'forbidden' ? 6 : 4;
  return cefText({ version, id: call.outcome, name, severity }, [
    ['rt', Date.parse(call.ts)],
    ['externalId', call.call_id],
    ['suser', call.agent],
    ['act', call.method ?? 'tools/call'],
    ['outcome', call.outcome],
    ['reason', call.error],
    ['cs1Label', 'run'],
    ['cs1', call.run_id],
    ['cs2Label', 'decision'],
    ['cs2', call.decision],
    ['cs3Label', 'chain'],
    ['cs3', head],
    ['cn1Label', 'durationMs'],
    ['cn1', call.duration_ms === null ? null : Math.round(call.duration_ms)],
  ]);
}

function cefEvent(
  { ts, who, how, what, subject, detail, failed }: RecordedEvent,
  head: string,
  version: string,
): string {
  return cefText({ version, id: what, name: `${what} ${subject}`, severity: 3 }, [
    ['rt', Date.parse(ts)],
    ['suser', who],
    ['act', what],
    ['outcome', failed === true ? 'failed' : 'recorded'],
    ['msg', detail ?? null],
    ['cs3Label', 'chain'],
    ['cs3', head],
    ['cs4Label', 'origin'],
    ['cs4', how],
  ]);
}

interface CefHeader {
  readonly version: string;
  readonly id: string;
  readonly name: string;
  readonly severity: number;
}

type CefFields = readonly (readonly [string, string | number | null])[];

function cefText({ version, id, name, severity }: CefHeader, fields: CefFields): string {
  const extension = fields.flatMap(([key, value]) => (value === null ? [] : [`${key}=${inValue(String(value))}`]));
  return `CEF:0|Quartermaster|qm|${inHeader(version)}|${inHeader(id)}|${inHeader(name)}|${severity}|${extension.join(' ')}`;
}

/** In the header a pipe ends a field; in the extension an equals sign does. */
function inHeader(text: string): string {
  return text.replace(/[\\|]/g, '\\$&').replace(/[\r\n]+/g, ' ');
}

function inValue(text: string): string {
  return text.replace(/[\\=]/g, '\\$&').replace(/\r?\n|\r/g, '\\n');
}
