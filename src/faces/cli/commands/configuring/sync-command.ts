import { Command } from 'commander';
import type { CliContext } from '../../context.ts';
import { type Invocation, readInvocation } from '../../global-options.ts';
import { helpExamples } from '../../help-examples.ts';
import type { SyncAnswer } from '../../json-shapes.ts';
import { renderTable } from '../../terminal/table.ts';

export function syncCommand(cli: CliContext): Command {
  return new Command('sync')
    .description('make .mcp/servers/*.json from ops/adk/servers/*.yaml')
    .addHelpText('after', helpExamples('qm sync', 'qm sync --check  # in CI: exits with 1 if a file is out of date'))
    .option('--check', 'write nothing; exit with 1 if a file is missing, stale or left over')
    .option('--prune', 'also remove files whose source is gone')
    .action((options: SyncOptions, command: Command) => sync(cli, readInvocation(command, cli), options));
}

interface SyncOptions {
  readonly check?: boolean;
  readonly prune?: boolean;
}

async function sync(cli: CliContext, { workspace, json }: Invocation, options: SyncOptions): Promise<void> {
  const { syncFiles } = await import('../../servers/sync-files.ts');
  const answer = await syncFiles(cli, workspace, { check: options.check === true, prune: options.prune === true });
  if (!answer.inStep) cli.exitWith(1);
  if (json) cli.terminal.out(JSON.stringify(answer));
  else print(cli, answer, options);
}

function print({ terminal }: CliContext, { files, skipped, inStep }: SyncAnswer, { check }: SyncOptions): void {
  const { colours, errColours, width } = terminal;
  const lines = renderTable(
    files,
    [
      { title: '', text: ({ state }) => state, paint: (text, { state }) => colours[stateColour[state]](text) },
      { title: '', text: ({ file }) => file },
      { title: '', text: ({ source }) => (source === null ? '' : `from ${source}`), paint: colours.dim },
    ],
    { colours, width, titles: false },
  );
  for (const line of lines) terminal.out(line);
  for (const { file, type } of skipped) terminal.err(errColours.dim(`${file} is of type ${type}, not an MCP server.`));
  if (files.length === 0) terminal.err('ops/adk/servers/ is empty. `qm bootstrap` writes presets there.');
  else if (check === true && inStep) terminal.err('All files are up to date.');
  if (files.some(({ state }) => state === 'missing' || state === 'stale')) {
    terminal.err(`${errColours.red('qm:')} Some files are out of date. Run \`qm sync\`.`);
  }
  if (files.some(({ state }) => state === 'orphan')) {
    terminal.err('An orphan was made from a file that is gone; `qm sync --prune` removes it.');
  }
}

const stateColour: Readonly<Record<SyncAnswer['files'][number]['state'], 'green' | 'dim' | 'yellow' | 'red'>> = {
  written: 'green',
  updated: 'green',
  removed: 'green',
  unchanged: 'dim',
  missing: 'red',
  stale: 'red',
  orphan: 'yellow',
};
