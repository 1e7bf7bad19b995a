import { Command } from 'commander';
import { HubError } from '../../../base/index.ts';
import type { CallLine } from '../../../ledger/index.ts';
import { checkRun } from '../agent-option.ts';
import type { CliContext } from '../context.ts';
import { type Invocation, readInvocation } from '../global-options.ts';
import { oneLine } from '../printable.ts';
import { type Column, renderTable } from '../table.ts';

export function callsCommand(cli: CliContext): Command {
  return new Command('calls')
    .description('show the ledger: who called what, and how it ended')
    .option('--follow', 'go on with calls as they end, until Ctrl-C')
    .option('--run <id>', 'only the calls of that run')
    .option('--limit <count>', 'the last so many', '50')
    .action((options: CallsOptions, command: Command) => calls(cli, readInvocation(command, cli), options));
}

interface CallsOptions {
  readonly follow?: boolean;
  readonly run?: string;
  readonly limit: string;
}

async function calls(cli: CliContext, { workspace, json }: Invocation, options: CallsOptions): Promise<void> {
  const { terminal, clock } = cli;
  const { readCalls, readOpenCalls } = await import('../../../ledger/index.ts');
  const run = checkRun(options.run);
  const scope = run === undefined ? {} : { run };
  const limit = readLimit(options.limit);
  const startedAt = clock.now();
  const ended = await readCalls(workspace, { ...scope, limit });
  if (options.follow === true) {
    await follow(cli, { workspace, json, limit, scope, startedAt }, ended);
    return;
  }
  const open = (await readOpenCalls(workspace, clock)).filter((call) => run === undefined || call.run_id === run);
  const all = [...ended, ...open];
  if (json) terminal.out(JSON.stringify(all));
  else if (all.length === 0) terminal.err('No calls are on the ledger here yet.');
  else
    for (const line of renderTable(all, columns(cli), { colours: terminal.colours, width: terminal.width }))
      terminal.out(line);
}

interface FollowScope {
  readonly workspace: string;
  readonly json: boolean;
  readonly limit: number;
  readonly scope: { readonly run?: string };
  readonly startedAt: number;
}

/** First the last ones, then each as it ends; one that ended between the two looks is in neither twice. */
async function follow(cli: CliContext, scope: FollowScope, last: readonly CallLine[]): Promise<void> {
  const { terminal, clock, signals } = cli;
  const { followCalls } = await import('../../../ledger/index.ts');
  const shown = new Set(last.map(({ call_id }) => call_id));
  const print = (call: CallLine): void => {
    if (scope.json) terminal.out(JSON.stringify(call));
    else terminal.out(followLine(cli, call));
  };
  for (const call of last) print(call);
  const isNews = (call: CallLine): boolean =>
    !shown.has(call.call_id) && Date.parse(call.ts) + (call.duration_ms ?? 0) >= scope.startedAt - 1000;
  await followCalls(
    scope.workspace,
    { ...scope.scope, last: scope.limit, clock },
    (call) => {
      if (isNews(call)) print(call);
    },
    AbortSignal.any([signals.graceful(), terminal.gone]),
  );
}

function columns({ terminal: { colours } }: CliContext): readonly Column<CallLine>[] {
  const ofOutcome = (text: string, { status }: CallLine): string =>
    ({ ok: colours.green, error: colours.red, open: colours.yellow })[status](text);
  return [
    { title: 'TIME', text: ({ ts }) => localTime(ts), paint: colours.dim },
    { title: 'AGENT', text: ({ agent }) => agent },
    { title: 'TOOL', text: subjectOf, paint: colours.bold },
    { title: 'OUTCOME', text: ({ outcome }) => outcome, paint: ofOutcome },
    { title: 'MS', text: ({ duration_ms }) => (duration_ms === null ? '-' : duration_ms.toFixed(1)), right: true },
    { title: 'RUN', text: ({ run_id }) => run_id, paint: colours.dim },
    { title: 'ERROR', text: ({ error }) => oneLine(error ?? '') },
  ];
}

/** Widths of later lines are not known, so usual ones have to do. */
function followLine(cli: CliContext, call: CallLine): string {
  const widths = [19, 12, 32, 14, 9, 20, 0];
  return columns(cli)
    .map(({ text, paint, right }, index) => {
      const plain = text(call);
      const gap = ' '.repeat(Math.max(0, (widths[index] ?? 0) - plain.length));
      const painted = paint?.(plain, call) ?? plain;
      return right === true ? gap + painted : painted + gap;
    })
    .join('  ')
    .trimEnd();
}

function subjectOf({ server, tool }: CallLine): string {
  return oneLine(server === null ? tool : `${server}.${tool}`);
}

function localTime(ts: string): string {
  const date = new Date(ts);
  const two = (value: number): string => String(value).padStart(2, '0');
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}

function readLimit(text: string): number {
  const limit = /^\d{1,7}$/.test(text) ? Number(text) : 0;
  if (limit > 0) return limit;
  throw new HubError('USAGE', `"${text.slice(0, 40)}" is not a number of calls.`, { hint: 'Write --limit 50.' });
}
