import { resolve } from 'node:path';
import { Command } from 'commander';
import { completeWords, workspaceOf } from '../complete-words.ts';
import type { CliContext } from '../context.ts';

/**
 * `qm __complete -- WORD…`: what could come next, for the scripts of `qm completion`. The first line says what kind of
 * answer it is: `words`, `files` or `folders`; then one word per line, after a tab what it means. Silent when in doubt.
 */
export function completeCommand(cli: CliContext): Command {
  return new Command('__complete')
    .description('for the scripts of `qm completion`')
    .argument('[words...]')
    .action((words: string[], _options, command: Command) => complete(cli, command.parent ?? command, words));
}

async function complete(cli: CliContext, program: Command, words: readonly string[]): Promise<void> {
  const { terminal } = cli;
  const found = completeWords(program, words);
  if (found.kind === 'files' || found.kind === 'folders') {
    terminal.out(found.kind);
    return;
  }
  terminal.out('words');
  if (found.kind === 'words') {
    for (const { value, about } of found.words) terminal.out(`${value}\t${about}`);
    return;
  }
  const { completeNames } = await import('../complete-names.ts');
  const workspace = resolve(cli.cwd, withHome(workspaceOf(words) ?? '.', cli.env.HOME));
  const beginning = (words.at(-1) ?? '').slice(found.prefix.length);
  // A configuration that cannot be read is told by the command itself, not while somebody is writing it.
  const names = await completeNames(cli, workspace, found.of, beginning).catch(() => []);
  for (const name of names) terminal.out(`${found.prefix}${name}\t`);
}

/** The shell has not done so yet. */
function withHome(folder: string, home: string | undefined): string {
  return home !== undefined && /^~(\/|$)/.test(folder) ? home + folder.slice(1) : folder;
}
