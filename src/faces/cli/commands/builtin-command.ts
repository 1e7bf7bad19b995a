import { Command, Option } from 'commander';
import { type BuiltinUsage, builtinUsages, serveBuiltin } from '../../../apps/builtin/index.ts';
import type { BuiltinName } from '../../../domain/index.ts';
import type { CliContext } from '../context.ts';
import { type Invocation, readInvocation } from '../global-options.ts';
import { helpExamples } from '../help-examples.ts';
import { servePipes } from '../hub/serve-pipes.ts';

export function builtinCommand(cli: CliContext): Command {
  const all = new Command('builtin')
    .description('run a built-in server on stdin and stdout')
    .helpCommand(false)
    .addHelpText('after', helpExamples('qm builtin git --workspace ../team', 'qm builtin fetch --help'));
  for (const [name, usage] of Object.entries(builtinUsages)) {
    // The record is keyed by name.
    all.addCommand(oneCommand(cli, name as BuiltinName, usage));
  }
  return all;
}

function oneCommand(cli: CliContext, name: BuiltinName, { summary, options, variables }: BuiltinUsage): Command {
  const command = new Command(name).description(summary);
  for (const { name: option, value, purpose, multiple } of options) {
    const taken = new Option(`--${option} <${value}>`, purpose);
    if (multiple === true) taken.argParser((text: string, before: readonly string[] = []) => [...before, text]);
    command.addOption(taken);
  }
  const needed = variables.map(({ name: variable, purpose }) => `  ${variable}  ${purpose}`);
  if (needed.length > 0) command.addHelpText('after', `\nVariables:\n${needed.join('\n')}`);
  command.addHelpText('after', helpExamples(`qm builtin ${name}`, `qm builtin ${name} --log-level debug`));
  return command.action((_options: unknown, self: Command) => serve(cli, readInvocation(self, cli), name, self));
}

async function serve(cli: CliContext, invocation: Invocation, name: BuiltinName, command: Command): Promise<void> {
  const stop = cli.signals.graceful();
  const { createLogger } = await import('../terminal/cli-logger.ts');
  const logger = createLogger(cli, invocation.logLevel ?? 'warn');
  const args = argumentsOf(builtinUsages[name], command.opts<Record<string, unknown>>());
  const serving = await serveBuiltin(
    { builtin: name, args, env: givenVariables(cli), cwd: invocation.workspace },
    { clock: cli.clock, logger, input: cli.stdin, output: cli.stdout },
  );
  await servePipes(cli, logger, stop, serving);
}

function givenVariables({ env }: CliContext): Record<string, string> {
  return Object.fromEntries(Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined));
}

/** The arguments in the form of a configuration, which the server parses the same way. */
function argumentsOf({ options }: BuiltinUsage, given: Readonly<Record<string, unknown>>): string[] {
  return options.flatMap(({ name }) => {
    const key = name.replace(/-([a-z])/g, (_dash, letter: string) => letter.toUpperCase());
    const values = given[key] === undefined ? [] : [given[key]].flat();
    // With an equals sign, because a value may begin with a dash.
    return values.map((value) => `--${name}=${String(value)}`);
  });
}
