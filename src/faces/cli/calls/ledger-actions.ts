import { HubError } from '../../../base/index.ts';
import {
  isProblem,
  type LedgerFinding,
  type LedgerPlaces,
  type LedgerReport,
  type RecordedEvent,
  readEvents,
  readLedgerHead,
  verifyLedger,
} from '../../../ledger/index.ts';
import { ledgerPlaces } from '../../../storage/index.ts';
import type { CliContext } from '../context.ts';
import type { Invocation } from '../global-options.ts';
import { stateLayout } from '../hub/state-layout.ts';
import { type FittingColumn, fitColumns, naturalWidths } from '../terminal/fit-columns.ts';
import { plural } from '../terminal/plural.ts';
import { printableLine } from '../terminal/printable.ts';
import { renderTable } from '../terminal/table.ts';
import { readLimit } from './calls-filter.ts';
import type { HeadAnswer, LedgerEvent, VerifyAnswer } from './ledger-shapes.ts';

export async function verify(cli: CliContext, invocation: Invocation, givenHead: string | undefined): Promise<void> {
  const { terminal, clock } = cli;
  const head = givenHead === undefined ? undefined : readHead(givenHead);
  const onProgress = (done: number, total: number): void =>
    terminal.progress(`Verifying the audit log … ${total === 0 ? 100 : Math.floor((100 * done) / total)} %`);
  const options = head === undefined ? { onProgress } : { head, onProgress };
  const report = await verifyLedger({ clock }, placesOf(cli, invocation), options);
  terminal.progress('');
  if (!report.ok) cli.exitWith(1);
  if (invocation.json) terminal.out(JSON.stringify(report satisfies VerifyAnswer));
  else for (const line of reportLines(report, head !== undefined)) terminal.out(line);
}

export async function showHead(cli: CliContext, invocation: Invocation): Promise<void> {
  const { terminal, clock } = cli;
  const head = await readLedgerHead({ clock }, placesOf(cli, invocation));
  if (invocation.json) terminal.out(JSON.stringify((head ?? null) satisfies HeadAnswer));
  else if (head === undefined) terminal.err('The audit log has no records yet, so it has no head.');
  else {
    terminal.out(`${head.hash}@${head.seq}`);
    terminal.err('Keep it where agents cannot write. `qm ledger verify --head` checks the audit log against it.');
  }
}

/** One object for each line, as `qm calls --json` does. */
export async function showEvents(cli: CliContext, invocation: Invocation, givenLimit: string): Promise<void> {
  const { terminal } = cli;
  const limit = readLimit(givenLimit, 'acts');
  terminal.progress('Reading the audit log …');
  const events = await readEvents(placesOf(cli, invocation), limit);
  terminal.progress('');
  if (invocation.json) for (const event of events) terminal.out(JSON.stringify(event satisfies LedgerEvent));
  else if (events.length === 0) terminal.err('The audit log has no administrative acts yet.');
  else for (const line of eventTable(cli, events)) terminal.out(line);
}

function eventTable({ terminal: { colours, width } }: CliContext, events: readonly RecordedEvent[]): string[] {
  const columns: readonly FittingColumn<RecordedEvent>[] = [
    { title: 'TIME (UTC)', text: ({ ts }) => ts.slice(0, 19).replace('T', ' ') },
    { title: 'WHO', text: ({ who }) => who },
    { title: 'HOW', text: ({ how }) => how },
    { title: 'ACT', text: ({ what, failed }) => (failed === true ? `${what} (failed)` : what), paint: colours.bold },
    { title: 'SUBJECT', text: ({ subject }) => printableLine(subject) },
    { title: 'DETAIL', text: ({ detail }) => printableLine(detail ?? '-') },
  ];
  return renderTable(events, fitColumns(columns, naturalWidths(columns, events), width), { colours, width });
}

function placesOf(cli: CliContext, { workspace }: Invocation): LedgerPlaces {
  return ledgerPlaces(stateLayout(cli, workspace));
}

function readHead(text: string): { readonly hash: string; readonly seq: number } {
  const [, hash, seq] = /^([0-9a-f]{64})@(\d{1,15})$/.exec(text) ?? [];
  if (hash !== undefined) return { hash, seq: Number(seq) };
  throw new HubError('USAGE', `"${text.slice(0, 100)}" is not a head of the audit log.`, {
    hint: 'Write --head with 64 hexadecimal digits, @ and a number, as `qm ledger head` prints it.',
  });
}

function* reportLines(report: LedgerReport, hasHead: boolean): Generator<string> {
  const { findings, problems, segments, writes, records } = report;
  for (const finding of findings) yield `${isProblem(finding) ? 'PROBLEM' : 'note'}  ${textOf(finding)}`;
  const read = `${plural(records, 'record')} in ${plural(writes, 'write')} and ${plural(segments, 'file')}`;
  if (problems > 0) yield `${plural(problems, 'problem')} in ${read}.`;
  else if (segments === 0) yield 'The journal has no records yet.';
  else if (hasHead) yield `Unchanged since the given head: ${read}.`;
  else yield `The chain is whole: ${read}. Changes by somebody who recomputed it show only against an earlier head.`;
}

function textOf(finding: LedgerFinding): string {
  switch (finding.kind) {
    case 'changed':
      return `changed at sequence ${finding.seq}: ${finding.file}`;
    case 'other-end':
      return `changed at its end: ${finding.file} ends with sequence ${finding.foundSeq}; a later file says ${finding.seq}`;
    case 'missing':
      return `missing: the file ${finding.file}, up to sequence ${finding.seq}; retention did not remove it`;
    case 'head-missing':
      return `the audit log does not contain the head ${finding.hash}@${finding.seq}: it was replaced or changed`;
    case 'run-file':
      return `the file of run ${finding.run} lacks ${plural(finding.lacks, 'call')} and has ${finding.adds} that the journal does not`;
    case 'expired':
      return `expired: the file ${finding.file}, up to sequence ${finding.seq} (${finding.why})`;
    case 'head-expired':
      return `the head ${finding.hash}@${finding.seq} is in a part that expired and cannot be checked`;
    case 'sealed':
      return `torn and sealed at ${finding.at}: ${finding.file}, sequence ${finding.seq}; ${plural(finding.lines, 'record')} kept, ${plural(finding.cut, 'byte')} cut`;
    case 'unfinished':
      return `not closed: ${finding.file}; its hub died, and the next one seals it`;
    case 'unchained':
      return `no chain inside: ${finding.file}, written by an earlier version`;
  }
}
