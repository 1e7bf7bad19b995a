import { Command } from 'commander';
import type { CallLine, LedgerPlaces, RecordedCall, RecordedCalls } from '../../../ledger/index.ts';
import { noteUnsettledCalls } from '../agents/unsettled-note.ts';
import {
  type CallsFilter,
  type CallsFilterOptions,
  fitsFilter,
  readCallsFilter,
  readLimit,
  withCallsFilter,
} from '../calls/calls-filter.ts';
import { copiesNote } from '../calls/copies-note.ts';
import type { CliContext } from '../context.ts';
import { type Invocation, readInvocation } from '../global-options.ts';
import { helpExamples } from '../help-examples.ts';

export function callsCommand(cli: CliContext): Command {
  const command = new Command('calls')
    .description('show the audit log: who called which tool, with what outcome')
    .addHelpText('after', helpExamples('qm calls --follow', 'qm calls --agent tester --status error --since 2h'))
    .option('--follow', 'print further calls as they end, until Ctrl-C')
    .option('--limit <count>', 'number of calls to show', '50');
  return withCallsFilter(command).action((options: CallsOptions, self: Command) =>
    calls(cli, readInvocation(self, cli), options),
  );
}

interface CallsOptions extends CallsFilterOptions {
  readonly follow?: boolean;
  readonly limit: string;
}

async function calls(cli: CliContext, invocation: Invocation, options: CallsOptions): Promise<void> {
  const { clock } = cli;
  const [{ readRecordedCalls, readRecordedOpenCalls }, { ledgerPlaces }, { stateLayout }] = await Promise.all([
    import('../../../ledger/index.ts'),
    import('../../../storage/index.ts'),
    import('../hub/state-layout.ts'),
  ]);
  const startedAt = clock.now();
  const filter = readCallsFilter(options, startedAt);
  const limit = readLimit(options.limit, 'calls');
  const { run, since, where } = filter;
  const places = ledgerPlaces(stateLayout(cli, invocation.workspace));
  const ended = await readRecordedCalls(places, {
    limit,
    ...(run === undefined ? {} : { run }),
    ...(since === undefined ? {} : { since }),
    ...(where === undefined ? {} : { where }),
  });
  if (options.follow === true) {
    await follow(cli, { ...invocation, places, limit, filter, startedAt }, ended.calls);
    return;
  }
  const open = (await readRecordedOpenCalls(places, clock)).filter(({ call }) => fitsFilter(filter, call));
  await print(cli, invocation, { ...ended, calls: [...ended.calls, ...open] }, options);
}

async function print(
  cli: CliContext,
  { workspace, json }: Invocation,
  { calls: all, source }: RecordedCalls,
  options: CallsOptions,
): Promise<void> {
  const { terminal, clock } = cli;
  if (json) {
    for (const { text } of all) terminal.out(text);
    return;
  }
  const { renderCalls } = await import('../calls/calls-columns.ts');
  const layout = { colours: terminal.colours, width: terminal.width, now: clock.now() };
  if (all.length === 0) terminal.err(await sayNothingThere(cli, workspace, options));
  else
    for (const line of renderCalls(
      all.map(({ call }) => call),
      layout,
    ))
      terminal.out(line);
  if (source === 'copies' && all.length > 0) terminal.err(terminal.errColours.yellow(copiesNote));
  await noteUnsettledCalls(cli, workspace);
}

async function sayNothingThere(cli: CliContext, workspace: string, options: CallsOptions): Promise<string> {
  const { run, agent, server, status, outcome, since, shadow } = options;
  const picky = [run, agent, server, status, outcome, since, shadow].some((each) => each !== undefined);
  if (!picky) {
    return 'The audit log has no calls yet. `qm call SERVER.TOOL --agent NAME` makes one, and `qm serve` lets agents make them.';
  }
  const { mistypedFilter } = await import('../calls/mistyped-filter.ts');
  const hint = (await mistypedFilter(cli, workspace, options)) ?? '`qm calls` without options shows the last ones.';
  return `No call in the audit log matches. ${hint}`;
}

interface FollowScope extends Invocation {
  readonly places: LedgerPlaces;
  readonly limit: number;
  readonly filter: CallsFilter;
  readonly startedAt: number;
}

/** Prints the last calls, then each call as it ends. Calls that end between the two reads are printed once. */
async function follow(cli: CliContext, scope: FollowScope, last: readonly RecordedCall[]): Promise<void> {
  const { terminal, clock, signals } = cli;
  const { places, json, limit, filter } = scope;
  const [{ followCalls }, { callLineRenderer }] = await Promise.all([
    import('../../../ledger/index.ts'),
    import('../calls/calls-columns.ts'),
  ]);
  const render = callLineRenderer({ colours: terminal.colours, width: terminal.width, now: clock.now() });
  const shown = new Set(last.map(({ call }) => call.call_id));
  const tell = (call: CallLine, text: string): void => terminal.out(json ? text : render(call));
  for (const { call, text } of last) tell(call, text);
  const isNews = (call: CallLine): boolean =>
    !shown.has(call.call_id) && Date.parse(call.ts) + (call.duration_ms ?? 0) >= scope.startedAt - 1000;
  await followCalls(
    places,
    { ...(filter.run === undefined ? {} : { run: filter.run }), last: limit, clock },
    (call, text) => {
      if (isNews(call) && fitsFilter(filter, call)) tell(call, text);
    },
    AbortSignal.any([signals.graceful(), terminal.gone]),
  );
}
