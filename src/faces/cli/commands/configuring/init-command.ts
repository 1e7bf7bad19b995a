import { Command } from 'commander';
import type { CliContext } from '../../context.ts';
import { type Invocation, readInvocation } from '../../global-options.ts';
import { helpExamples } from '../../help-examples.ts';
import type { InitAnswer } from '../../json-shapes.ts';
import { renderTable } from '../../terminal/table.ts';

export function initCommand(cli: CliContext): Command {
  return new Command('init')
    .description('write a first quartermaster.yaml, or say which files the hub reads already')
    .addHelpText('after', helpExamples('qm init', 'qm init --workspace ../team'))
    .action((_options, command: Command) => init(cli, readInvocation(command, cli)));
}

async function init(cli: CliContext, { workspace, json }: Invocation): Promise<void> {
  const { initWorkspace } = await import('../../servers/init-workspace.ts');
  const { terminal } = cli;
  const answer = await initWorkspace(cli, workspace);
  if (json) {
    terminal.out(JSON.stringify(answer));
    return;
  }
  if (answer.written) terminal.out(`Wrote ${answer.file}, with examples in comments.`);
  else sayRead(cli, answer);
  const { runFilesNote } = await import('../../calls/run-files-note.ts');
  const note = await runFilesNote(cli, workspace);
  if (note !== undefined) terminal.err(note);
  const hasServers = answer.read.some(({ servers }) => servers.length > 0);
  await sayNext(cli, workspace, hasServers ? nextWithServers : nextWithoutServers);
}

/** Existing files need no conversion and no entry in ours. */
function sayRead({ terminal }: CliContext, { file, read }: InitAnswer): void {
  const others = read.filter((each) => each.file !== file);
  if (others.length < read.length) terminal.out(`${file} is there already. Nothing was changed.`);
  if (others.length === 0) return;
  const also = others.length < read.length ? 'also ' : '';
  terminal.out(`The hub ${also}reads these files as they are, so nothing is needed:`);
  const { colours, width } = terminal;
  const columns = [
    { title: '', text: (each: InitAnswer['read'][number]) => each.file, paint: colours.bold },
    { title: '', text: ({ servers }: InitAnswer['read'][number]) => servers.join(', ') || 'agents or rules' },
  ];
  const room = width === undefined ? undefined : width - 2;
  for (const line of renderTable(others, columns, { colours, width: room, titles: false })) terminal.out(`  ${line}`);
}

type NextStep = readonly [command: string, purpose: string];

const connectNext: NextStep = ['connect CLIENT --agent NAME', 'connects a client, which then starts the hub itself'];

const nextWithServers: readonly NextStep[] = [
  ['doctor', 'shows what each server would start, asks you, and tests it'],
  connectNext,
];

const nextWithoutServers: readonly NextStep[] = [
  ['add files -- npx -y @modelcontextprotocol/server-filesystem .', 'a program'],
  ['add docs https://docs.example.com/mcp', 'a server at a URL'],
  ['bootstrap --list', 'ready-made entries for popular servers'],
  connectNext,
];

async function sayNext(cli: CliContext, workspace: string, next: typeof nextWithServers): Promise<void> {
  const { nextCommand } = await import('../../next-command.ts');
  const { terminal } = cli;
  const { bold, dim } = terminal.errColours;
  terminal.err('\nNext:');
  for (const [command, purpose] of next) {
    terminal.errWhole(`  ${bold(nextCommand(cli, workspace, command))}`);
    terminal.err(dim(`      ${purpose}`));
  }
}
