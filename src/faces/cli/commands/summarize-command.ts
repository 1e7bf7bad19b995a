import { resolve } from 'node:path';
import { Command } from 'commander';
import { checkRun } from '../agents/agent-option.ts';
import { noteUnsettledCalls } from '../agents/unsettled-note.ts';
import type { CliContext } from '../context.ts';
import { type Invocation, readInvocation } from '../global-options.ts';
import { helpExamples } from '../help-examples.ts';
import { plural } from '../terminal/plural.ts';

export function summarizeCommand(cli: CliContext): Command {
  return new Command('summarize')
    .description('show statistics of the audit log: counts, errors, latency, suspicious calls')
    .addHelpText('after', helpExamples('qm summarize', 'qm summarize --run nightly --output summary.json'))
    .option('--run <id>', 'only calls of this run')
    .option('--output <file>', 'write them to this file as JSON')
    .action((options: SummarizeOptions, command: Command) => summarize(cli, readInvocation(command, cli), options));
}

interface SummarizeOptions {
  readonly run?: string;
  readonly output?: string;
}

async function summarize(cli: CliContext, { workspace, json }: Invocation, options: SummarizeOptions): Promise<void> {
  const { terminal } = cli;
  const [{ summarizeCalls }, { ledgerPlaces }, { stateLayout }] = await Promise.all([
    import('../../../ledger/index.ts'),
    import('../../../storage/index.ts'),
    import('../hub/state-layout.ts'),
  ]);
  const run = checkRun(options.run);
  const target = options.output === undefined ? undefined : await checkedTarget(cli, options.output);
  let shown = -1;
  const onProgress = (done: number, total: number): void => {
    const percent = total === 0 ? 100 : Math.min(100, Math.floor((100 * done) / total));
    if (percent > shown) terminal.progress(`Reading the audit log … ${percent} %`);
    shown = percent;
  };
  onProgress(0, 1);
  const places = ledgerPlaces(stateLayout(cli, workspace));
  const stats = await summarizeCalls(places, run === undefined ? { onProgress } : { run, onProgress });
  terminal.progress('');
  const summary = { mcp_stats: stats };
  if (target !== undefined) {
    const { replaceOutput } = await import('../terminal/output-file.ts');
    await replaceOutput(target, `${JSON.stringify(summary, undefined, 2)}\n`, cli.random);
  }
  if (json) terminal.out(JSON.stringify(summary));
  if (target !== undefined) terminal.err(`The statistics of ${plural(stats.total_calls, 'call')} are in ${target}.`);
  if (json) return;
  if (target === undefined) {
    const { summaryLines } = await import('../calls/summary-lines.ts');
    if (stats.total_calls > 0) for (const line of summaryLines(stats, terminal)) terminal.out(line);
    else {
      terminal.err(await emptyText(cli, workspace, run));
      if (stats.probes > 0) {
        terminal.err(`It has ${plural(stats.probes, 'probe')} of qm doctor and qm inspect, which are not agent calls.`);
      }
    }
  }
  if (stats.total_calls === 0 && stats.unreadable_lines > 0)
    terminal.err(
      `Unreadable: ${plural(stats.unreadable_lines, 'line')} under .runs/agents, torn or from other programs.`,
    );
  await noteUnsettledCalls(cli, workspace);
}

async function emptyText(cli: CliContext, workspace: string, run: string | undefined): Promise<string> {
  if (run === undefined) {
    return 'The audit log has no calls yet. `qm call SERVER.TOOL --agent NAME` makes one, and `qm serve` lets agents make them.';
  }
  const { mistypedFilter } = await import('../calls/mistyped-filter.ts');
  const hint = (await mistypedFilter(cli, workspace, { run })) ?? '`qm calls` shows which runs there are.';
  return `The audit log has no calls of run ${run}. ${hint}`;
}

/** Checks the target before the long read, not after it. */
async function checkedTarget({ cwd }: CliContext, output: string): Promise<string> {
  const { checkOutput } = await import('../terminal/output-file.ts');
  const target = resolve(cwd, output);
  await checkOutput(target);
  return target;
}
