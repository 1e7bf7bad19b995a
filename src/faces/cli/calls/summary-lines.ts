import type { CallStatistics, SuspiciousCall } from '../../../ledger/index.ts';
import { type FittingColumn, fitColumns, naturalWidths } from '../terminal/fit-columns.ts';
import { plural } from '../terminal/plural.ts';
import { printableLine } from '../terminal/printable.ts';
import { renderTable } from '../terminal/table.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { hang } from '../terminal/wrap.ts';
import { localTime } from './calls-columns.ts';

type Paper = Pick<Terminal, 'colours' | 'width'>;

/** The statistics for people: counts, latency, and calls worth a second look. */
export function summaryLines(stats: CallStatistics, paper: Paper): string[] {
  return [
    ...headline(stats, paper),
    '',
    ...serverTable(stats, paper),
    ...latencyTable(stats, paper),
    '',
    ...factLines(stats, paper),
  ];
}

const shownRows = 10;

function headline(stats: CallStatistics, { colours, width }: Paper): string[] {
  const { total_calls, total_errors, error_rate, runs, first_ts, last_ts } = stats;
  const errors = `${plural(total_errors, 'error')} (${(error_rate * 100).toFixed(1)} %)`;
  const text = `${plural(total_calls, 'call')} in ${plural(runs, 'run')}, `;
  return [
    colours.bold(text) + (total_errors > 0 ? colours.red(errors) : colours.green(errors)),
    ...hang('', periodText(first_ts ?? '', last_ts ?? ''), width).map(colours.dim),
  ];
}

/** Prints the day once if both are on the same one. */
function periodText(first: string, last: string): string {
  const [from, to] = [localTime(first), localTime(last)];
  const [day = ''] = from.split(' ', 1);
  return `${from} to ${to.startsWith(day) ? to.slice(day.length + 1) : to}`;
}

type ServerRow = readonly [server: string, calls: number, errors: number];

function serverTable(stats: CallStatistics, paper: Paper): string[] {
  const rows: ServerRow[] = Object.entries(stats.calls_by_server).map(([server, calls]) => [
    server,
    calls,
    stats.errors_by_server[server] ?? 0,
  ]);
  if (stats.calls_without_server > 0)
    rows.push(['(no such tool)', stats.calls_without_server, stats.calls_without_server]);
  const { bold, red } = paper.colours;
  return table(paper, rows, 'servers', [
    { title: 'SERVER', text: ([server]) => printableLine(server), paint: bold, least: 8 },
    { title: 'CALLS', text: ([, calls]) => String(calls), right: true },
    {
      title: 'ERRORS',
      text: ([, , errors]) => String(errors),
      right: true,
      paint: (text, [, , errors]) => (errors > 0 ? red(text) : text),
    },
  ]);
}

type ToolRow = readonly [tool: string, latency: CallStatistics['latency_by_tool'][string]];

function latencyTable(stats: CallStatistics, paper: Paper): string[] {
  const rows: ToolRow[] = Object.entries(stats.latency_by_tool);
  if (rows.length === 0) return [];
  const ms = (title: string, key: 'p50' | 'p95' | 'p99' | 'max', spare?: number): FittingColumn<ToolRow> => ({
    title,
    text: ([, latency]) => latency[key].toFixed(1),
    right: true,
    ...(spare === undefined ? {} : { spare }),
  });
  return [
    '',
    ...table(paper, rows, 'tools', [
      { title: 'TOOL', text: ([tool]) => printableLine(tool), paint: paper.colours.bold, least: 12 },
      { title: 'SENT', text: ([, { count }]) => String(count), right: true },
      ms('P50 MS', 'p50'),
      ms('P95 MS', 'p95', 1),
      ms('P99 MS', 'p99', 3),
      ms('MAX MS', 'max', 2),
    ]),
  ];
}

function table<Row>(
  { colours, width }: Paper,
  rows: readonly Row[],
  what: string,
  columns: readonly FittingColumn<Row>[],
): string[] {
  const shown = rows.slice(0, shownRows);
  const lines = renderTable(shown, fitColumns(columns, naturalWidths(columns, shown), width), { colours });
  if (rows.length <= shownRows) return lines;
  return [...lines, colours.dim(`and ${rows.length - shownRows} more ${what}; --json has all`)];
}

function factLines(stats: CallStatistics, { colours, width }: Paper): string[] {
  const { cached_calls, rate_limit_hits, suspicious_calls, unreadable_lines, unreadable_files } = stats;
  const facts: [name: string, text: string, paint?: (text: string) => string][] = [
    ['outcomes', countsText(stats.outcomes)],
    ['agents', countsText(stats.calls_by_agent)],
  ];
  if (stats.probes > 0) facts.push(['probes', `${stats.probes} by qm doctor and qm inspect, not counted above`]);
  if (cached_calls > 0) facts.push(['cached', countsText(stats.cached_by_server)]);
  if (rate_limit_hits > 0)
    facts.push(['rate limits', countsText(stats.rate_limit_hits_by_server) || String(rate_limit_hits), colours.yellow]);
  if (Object.keys(stats.privileged_operations).length > 0)
    facts.push(['privileged', countsText(stats.privileged_operations)]);
  if (suspicious_calls > 0)
    facts.push(['suspicious', `${plural(suspicious_calls, 'call')} with a path out of the workspace`, colours.yellow]);
  for (const call of stats.suspicious_paths.slice(0, 3)) facts.push(['', suspiciousText(call)]);
  if (suspicious_calls > 3) facts.push(['', '…; --json has more']);
  if (unreadable_lines > 0) facts.push(['unreadable', plural(unreadable_lines, 'line'), colours.yellow]);
  for (const file of unreadable_files.slice(0, 3)) facts.push(['not read', printableLine(file), colours.yellow]);
  return facts.flatMap(([name, text, paint = (same) => same]) => {
    const [first = '', ...others] = hang(name.padEnd(13), text, width);
    return [colours.dim(first.slice(0, 13)) + paint(first.slice(13)), ...others.map(paint)];
  });
}

function suspiciousText({ call_id, agent, tool, at, value }: SuspiciousCall): string {
  return printableLine(`${tool} by ${agent}: ${at} is ${JSON.stringify(value.slice(0, 60))} (call ${call_id})`);
}

function countsText(counts: Readonly<Record<string, number>>): string {
  const entries = Object.entries(counts);
  const shown = entries.slice(0, shownRows).map(([name, count]) => `${printableLine(name)} ${count}`);
  return [...shown, ...(entries.length > shownRows ? [`${entries.length - shownRows} more`] : [])].join(', ');
}
