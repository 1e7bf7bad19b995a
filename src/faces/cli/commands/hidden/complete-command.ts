import { resolve } from 'node:path';
import { Command } from 'commander';
import { completeWords, workspaceOf } from '../../completion/complete-words.ts';
import type { CliContext } from '../../context.ts';

/**
 * `qm __complete -- WORD…` prints completions for the scripts of `qm completion`. The first line is the kind: `words`,
 * `files` or `folders`. Then each line has one word, a tab and its description. Prints nothing if in doubt.
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
  const { completeNames } = await import('../../completion/complete-names.ts');
  const workspace = resolve(cli.cwd, withHome(workspaceOf(words) ?? '.', cli.env.HOME));
  const beginning = (words.at(-1) ?? '').slice(found.prefix.length);
  // The command itself reports a broken configuration; completion stays silent.
  const names = await completeNames(cli, workspace, found.of, beginning).catch(() => []);
  for (const name of names) terminal.out(`${found.prefix}${name}\t`);
}

/** The shell has not expanded `~` yet. */
function withHome(folder: string, home: string | undefined): string {
  return home !== undefined && /^~(\/|$)/.test(folder) ? home + folder.slice(1) : folder;
}
