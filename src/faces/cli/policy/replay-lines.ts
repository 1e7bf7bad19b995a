import { plural } from '../terminal/plural.ts';
import { printableLine } from '../terminal/printable.ts';
import { type Column, renderTable } from '../terminal/table.ts';
import type { Terminal } from '../terminal/terminal.ts';
import type { UnknownReason } from './judge-recorded.ts';
import type { ReplayedChange, ReplayedUnknown, ReplayReport } from './replay-calls.ts';

/** What changes, what cannot be said, and the sum of both. */
export function replayLines(report: ReplayReport, { colours, width }: Pick<Terminal, 'colours' | 'width'>): string[] {
  const { changes, unknowns, more } = report;
  return [
    ...(changes.length === 0 ? [] : [...renderTable(changes, changeColumns, { colours, width }), '']),
    ...(unknowns.length === 0 ? [] : [...renderTable(unknowns, unknownColumns, { colours, width }), '']),
    ...(more === 0 ? [] : [`${plural(more, 'more call')} that changed or are unknown are not listed.`]),
    sumOf(report),
  ];
}

function sumOf({ calls, same, changed, unknown, undecided, unreadable }: ReplayReport): string {
  const parts = [
    `${same} decided alike`,
    `${changed} differently`,
    `${unknown} unknown`,
    ...(undecided === 0 ? [] : [`${undecided} not decided by rules`]),
    ...(unreadable === 0 ? [] : [`${plural(unreadable, 'line')} that cannot be read`]),
  ];
  return `${plural(calls, 'call')}: ${parts.join(', ')}.`;
}

const who: readonly Column<Pick<ReplayedChange, 'agent' | 'server' | 'tool' | 'calls'>>[] = [
  { title: 'AGENT', text: ({ agent }) => printableLine(agent) },
  { title: 'TOOL', text: ({ server, tool }) => printableLine(`${server}.${tool}`) },
  { title: 'CALLS', text: ({ calls }) => String(calls), right: true },
];

const changeColumns: readonly Column<ReplayedChange>[] = [
  ...who,
  { title: 'WAS', text: ({ before }) => printableLine(before) },
  { title: 'NOW', text: ({ after }) => after },
  { title: 'BY', text: ({ rule, rule_source }) => printableLine(byWhat(rule, rule_source)) },
];

const unknownColumns: readonly Column<ReplayedUnknown>[] = [
  ...who,
  { title: 'UNKNOWN BECAUSE', text: ({ why }) => reasons[why] },
];

function byWhat(rule: string | null, source: string | null): string {
  if (rule === null) return 'no rule matches';
  return source === null ? rule : `${rule} (${source})`;
}

const reasons: Readonly<Record<UnknownReason, string>> = {
  'arguments-cut': 'a rule looks at its arguments, and the audit log has only their beginning',
  'arguments-redacted': 'a rule looks at its arguments, and the audit log has some of them redacted',
  'labels-unknown': 'a rule looks at the call, and the labels of its run were not known',
  'server-invalid': 'the server is invalid here; `qm ls` says why',
  'tools-unknown': 'the server has not listed its tools here; `qm tools` lists them',
};
