import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { type Command, Option } from 'commander';
import { HubError } from '../../base/index.ts';
import type { CliContext } from './context.ts';
import { type CliLogLevel, cliLogLevels } from './terminal/cli-logger.ts';
import { withChoices } from './word-choices.ts';

/** The options that every command takes. */
export interface Invocation {
  readonly workspace: string;
  readonly json: boolean;
  readonly logLevel: CliLogLevel | undefined;
}

export function withGlobalOptions(command: Command): Command {
  return command
    .option('--workspace <dir>', 'folder with the configuration (default: current folder)')
    .option('--json', 'print JSON on stdout, and nothing else')
    .addOption(withChoices(new Option('--log-level <level>', 'what to log on stderr'), cliLogLevels));
}

export function readInvocation(command: Command, cli: Pick<CliContext, 'cwd'>): Invocation {
  const options = command.optsWithGlobals<{ workspace?: string; json?: boolean; logLevel?: CliLogLevel }>();
  return {
    workspace: existingFolder(resolve(cli.cwd, options.workspace ?? '.')),
    json: options.json === true,
    logLevel: options.logLevel,
  };
}

function existingFolder(path: string): string {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === true) return path;
  throw new HubError('USAGE', `The workspace ${path} is not a folder.`, {
    hint: 'Name an existing one with --workspace DIR.',
  });
}
