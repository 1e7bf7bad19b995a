import type { CallLine } from '../../../ledger/index.ts';
import type { Colours } from '../terminal/colours.ts';
import { type FittedColumn, type FittingColumn, fitColumns, naturalWidths } from '../terminal/fit-columns.ts';
import { printableLine } from '../terminal/printable.ts';
import { cutWords, renderTable } from '../terminal/table.ts';

export interface CallsLayout {
  readonly colours: Colours;
  /** Undefined if lines may have any length. */
  readonly width: number | undefined;
  /** Milliseconds since the epoch, to recognize today's calls. */
  readonly now: number;
}

/** Renders calls as a table that fits the width. */
export function renderCalls(calls: readonly CallLine[], layout: CallsLayout): string[] {
  const columns = callsColumns(layout);
  const { colours, width } = layout;
  return renderTable(calls, fitColumns(columns, naturalWidths(columns, calls), width), { colours });
}

/** For calls that arrive one by one: the widths of later ones are unknown, so it uses typical widths. */
export function callLineRenderer(layout: CallsLayout): (call: CallLine) => string {
  const { width } = layout;
  const columns = fitColumns(callsColumns(layout), usualWidths(layout), width);
  return (call) => {
    const cells = columns.map((column, index) =>
      cell(column, call, { last: index === columns.length - 1, exact: width !== undefined }),
    );
    return cells.join('  ').trimEnd();
  };
}

function cell(
  { text, paint, right, width }: FittedColumn<CallLine>,
  call: CallLine,
  { last, exact }: { readonly last: boolean; readonly exact: boolean },
): string {
  const plain = exact ? cutWords(text(call), width) : text(call);
  const gap = last ? '' : ' '.repeat(Math.max(0, width - plain.length));
  const painted = paint?.(plain, call) ?? plain;
  return right === true ? gap + painted : painted + gap;
}

/** In column order. */
function usualWidths({ width }: CallsLayout): number[] {
  return isNarrow(width) ? [11, 10, 32, 12, 9, 20, width ?? 0] : [19, 12, 32, 14, 9, 20, width ?? 0];
}

function callsColumns({ colours, width, now }: CallsLayout): readonly FittingColumn<CallLine>[] {
  const ofOutcome = (text: string, { status }: CallLine): string =>
    ({ ok: colours.green, error: colours.red, open: colours.yellow })[status](text);
  const time = isNarrow(width) ? (ts: string) => shortTime(ts, now) : localTime;
  return [
    { title: 'TIME', text: ({ ts }) => time(ts), paint: colours.dim, spare: 1 },
    { title: 'AGENT', text: ({ agent }) => printableLine(agent), spare: 2 },
    { title: 'TOOL', text: subjectOf, paint: colours.bold, least: width !== undefined && width < 60 ? 12 : 20 },
    { title: 'OUTCOME', text: outcomeText, paint: ofOutcome },
    { title: 'MS', text: ({ duration_ms }) => duration_ms?.toFixed(1) ?? '-', right: true, spare: 4 },
    { title: 'RUN', text: runText, paint: colours.dim, spare: 5 },
    { title: 'ERROR', text: ({ error }) => printableLine(error ?? ''), spare: 3, least: 16 },
  ];
}

function isNarrow(width: number | undefined): boolean {
  return width !== undefined && width < 100;
}

function subjectOf({ server, tool }: CallLine): string {
  return printableLine(server === null ? tool : `${server}.${tool}`);
}

function outcomeText({ outcome, cached, decision, shadow }: CallLine): string {
  const notes = [
    ...(cached === true ? ['cached'] : []),
    ...(shadow === undefined || shadow === decision ? [] : [`shadow: ${shadow}`]),
  ];
  return printableLine(notes.length === 0 ? outcome : `${outcome} (${notes.join(', ')})`);
}

/** With the labels that the run had. */
function runText({ run_id, labels = [] }: CallLine): string {
  const shown = labels ?? ['labels unknown'];
  return printableLine(shown.length === 0 ? run_id : `${run_id} [${shown.join(', ')}]`);
}

export function localTime(ts: string): string {
  return `${day(ts)} ${clockTime(ts)}`;
}

/** The time for today's calls; day, hour and minute for others. */
function shortTime(ts: string, now: number): string {
  const today = day(new Date(now).toISOString());
  return day(ts) === today ? clockTime(ts) : `${day(ts).slice(5)} ${clockTime(ts).slice(0, 5)}`;
}

function day(ts: string): string {
  const date = new Date(ts);
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}

function clockTime(ts: string): string {
  const date = new Date(ts);
  return `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}

function two(value: number): string {
  return String(value).padStart(2, '0');
}
