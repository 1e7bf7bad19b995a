import type { Problem } from '../../../domain/index.ts';
import { groupProblems, type ProblemGroup } from '../servers/group-problems.ts';
import { severityColours } from '../servers/problem-lines.ts';
import type { Colours } from '../terminal/colours.ts';
import { printableLine } from '../terminal/printable.ts';
import { cutCell, cutWords } from '../terminal/table.ts';
import { hang } from '../terminal/wrap.ts';
import type { DoctorServer } from './diagnosis-shapes.ts';

export interface DoctorPage {
  readonly colours: Colours;
  /** Undefined if lines may have any length. */
  readonly width: number | undefined;
}

type Verdict = DoctorServer['verdict'];

/** The mark and colour of each verdict. */
export const verdictLooks: Readonly<Record<Verdict, { readonly mark: string; readonly colour: keyof Colours }>> = {
  reachable: { mark: '✓', colour: 'green' },
  'needs-auth': { mark: '!', colour: 'yellow' },
  'auth-failed': { mark: '✗', colour: 'red' },
  unreachable: { mark: '✗', colour: 'red' },
  invalid: { mark: '✗', colour: 'red' },
  untrusted: { mark: '!', colour: 'yellow' },
  declined: { mark: '-', colour: 'dim' },
  disabled: { mark: '-', colour: 'dim' },
};

/** The full report on one server. Facts are cut to the width, advice is wrapped. */
export function serverLines(row: DoctorServer, { colours, width }: DoctorPage): string[] {
  const { mark, colour } = verdictLooks[row.verdict];
  const paint = colours[colour];
  const wrapped = (first: string, text: string, ink: (text: string) => string): string[] =>
    hang(first, printableLine(text), width).map(ink);
  const plain = (text: string): string => text;
  const time = row.durationMs === null ? '' : `  ${colours.dim(seconds(row.durationMs))}`;
  const lines = [`${paint(mark)} ${colours.bold(row.name)}  ${paint(row.verdict)}${time}`];
  for (const attempt of failedAttempts(row)) lines.push(...wrapped('  ', attemptText(attempt), plain));
  const facts = factsOf(row);
  if (facts !== '') lines.push(...wrapped('  ', facts, colours.dim));
  if (row.tools !== null) lines.push(cutWords(`  ${toolsText(row.tools, width)}`, width ?? Number.POSITIVE_INFINITY));
  for (const [warning, times] of countEqual(row.warnings)) {
    const text = times === 1 ? warning : `${warning} (${times} times)`;
    lines.push(...wrapped('  warning ', text, colours.yellow));
  }
  for (const step of row.nextSteps) {
    const [text = '', ...commands] = step.split('\n');
    // Do not break a command that is meant to be copied.
    lines.push(...wrapped('  → ', text, plain), ...commands.map((command) => `    ${printableLine(command)}`));
  }
  return lines;
}

function countEqual(texts: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1);
  return counts;
}

/** The verdict in a few words, on one line. */
export function verdictText({ verdict, transport, httpStatus, tools }: DoctorServer): string {
  const code = httpStatus === null || httpStatus === 200 ? '' : ` (HTTP ${httpStatus})`;
  const what = tools === null ? '' : `, ${count(tools.length, 'tool')}`;
  const how = transport === null ? '' : ` over ${transport}`;
  return `${verdict}${how}${code}${what}`;
}

/** The attempts before the successful one; all if none succeeded. */
function failedAttempts({ attempts, verdict }: DoctorServer): DoctorServer['attempts'] {
  return verdict === 'reachable' ? attempts.slice(0, -1) : attempts;
}

function attemptText({ transport, implicit, error, verdict }: DoctorServer['attempts'][number]): string {
  const why = implicit ? ' (not configured, tried after HTTP)' : '';
  return `${transport}${why}: ${error?.message ?? verdict}`;
}

function factsOf(row: DoctorServer): string {
  if (row.verdict === 'disabled') return `disabled in ${row.source}; not tried`;
  // For a refusal, the attempt already has all facts.
  if (row.transport === null || row.protocolVersion === null) return '';
  const facts = [
    row.transport,
    row.httpStatus === null ? '' : `HTTP ${row.httpStatus}`,
    row.protocolVersion === null ? '' : `MCP ${row.protocolVersion}`,
    row.sessionId === null ? '' : `session ${cutCell(row.sessionId, 12)}`,
  ];
  return facts.filter((fact) => fact !== '').join(' · ');
}

const mostNames = 12;

function toolsText(names: readonly string[], width: number | undefined): string {
  const title = count(names.length, 'tool');
  if (names.length === 0) return title;
  // On a terminal the width limits the list.
  const shown = width === undefined ? names.slice(0, mostNames) : names;
  const more = names.length > shown.length ? ` and ${names.length - shown.length} more` : '';
  return `${title}: ${printableLine(shown.join(', '))}${more}`;
}

/** The problems of the configuration, grouped by file. */
export function problemGroups(problems: readonly Problem[], { colours, width }: DoctorPage): string[] {
  const files = [...new Set(problems.map(({ file }) => file))];
  return files.flatMap((file) => [
    colours.bold(file),
    ...groupProblems(problems.filter((problem) => problem.file === file)).flatMap((group) =>
      problemText(group, { colours, width }),
    ),
  ]);
}

function problemText({ problem, others }: ProblemGroup, { colours, width }: DoctorPage): string[] {
  const { severity, line, field, message, fix } = problem;
  const where = [line === undefined ? '' : `line ${line}`, field ?? ''].filter((part) => part !== '').join(', ');
  const text = printableLine(where === '' ? message : `${where}: ${message}`);
  const [first = '', ...rest] = hang(`  ${severity} `, text, width);
  const paint = colours[severityColours[severity]];
  const head = `  ${paint(severity)}${first.slice(2 + severity.length)}`;
  return [
    head,
    ...rest,
    ...(fix === undefined ? [] : hang('    → ', printableLine(fix), width)),
    ...(others === undefined ? [] : hang('    ', printableLine(others), width)),
  ];
}

/** `4 servers: 2 reachable, 1 needs-auth, 1 disabled`. */
export function tally(rows: readonly DoctorServer[]): string {
  const verdicts = Object.keys(verdictLooks).flatMap((verdict) => {
    const many = rows.filter((row) => row.verdict === verdict).length;
    return many === 0 ? [] : [`${many} ${verdict}`];
  });
  return `${count(rows.length, 'server')}: ${verdicts.join(', ')}`;
}

function count(many: number, thing: string): string {
  return many === 1 ? `1 ${thing}` : `${many} ${thing}s`;
}

function seconds(ms: number): string {
  return ms < 1000 ? `${ms} ms` : `${(ms / 1000).toFixed(1)} s`;
}
