import type { CallLine } from '../records/call-line.ts';

export interface ReadCallsOptions {
  readonly run?: string;
  /** At most this many calls, the newest. Default: all. */
  readonly limit?: number;
  /** Only calls that came in at this time or later, in milliseconds since the epoch. */
  readonly since?: number;
  /** Only calls for which this returns true. */
  readonly where?: (call: CallLine) => boolean;
}

/** A call with its line as written: parsing and printing it again would change large integers. */
export interface RecordedCall {
  readonly call: CallLine;
  readonly text: string;
}

export function isWantedCall(call: CallLine, { run, since, where }: ReadCallsOptions): boolean {
  if (run !== undefined && call.run_id !== run) return false;
  return (since === undefined || Date.parse(call.ts) >= since) && (where === undefined || where(call));
}

/** Sorted by their start, newest last. */
export function newestCalls(calls: RecordedCall[], limit: number): RecordedCall[] {
  calls.sort(({ call: a }, { call: b }) => compareStarts({ ts: a.ts, id: a.call_id }, { ts: b.ts, id: b.call_id }));
  return calls.slice(Math.max(0, calls.length - limit));
}

export interface CallStart {
  readonly ts: string;
  readonly id: string;
}

/** Calls of one millisecond are in the order of their numbers, if one hub made them. */
export function compareStarts(a: CallStart, b: CallStart): number {
  if (a.ts !== b.ts) return a.ts < b.ts ? -1 : 1;
  const [aDash, bDash] = [a.id.lastIndexOf('-'), b.id.lastIndexOf('-')];
  const isSameLife = aDash === bDash && a.id.slice(0, aDash) === b.id.slice(0, bDash);
  return isSameLife ? Number(a.id.slice(aDash + 1)) - Number(b.id.slice(bDash + 1)) : 0;
}
