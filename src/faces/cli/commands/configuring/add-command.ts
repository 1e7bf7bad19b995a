// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables in configuration are written so.
import { Command, Option } from 'commander';
import { type ConfiguredServer, placeOf } from '../../../../domain/index.ts';
import type { CliContext } from '../../context.ts';
import { type Invocation, readInvocation } from '../../global-options.ts';
import { helpExamples } from '../../help-examples.ts';
import type { AddAnswer } from '../../json-shapes.ts';
import type { AddOptions } from '../../servers/add-order.ts';
import { problemLines } from '../../servers/problem-lines.ts';
import { printableLine } from '../../terminal/printable.ts';
import { withChoices } from '../../word-choices.ts';

export function addCommand(cli: CliContext): Command {
  return new Command('add')
    .description('add a server to quartermaster.yaml')
    .argument('<name>', 'name of the server')
    .argument('[command...]', 'its URL, or -- and the program with its arguments')
    .option('--url <address>', 'URL of an HTTP server, another way to write it')
    .addOption(
      withChoices(new Option('--type <type>', 'transport of the URL: http, or the older sse'), [
        'http',
        'sse',
        'stdio',
      ]),
    )
    .option('--header <line>', "header for the URL, as 'Name: value'; may be repeated", collect)
    .option('--env <pair>', 'variable for the program, as NAME=VALUE; may be repeated', collect)
    .option('--cwd <dir>', 'working directory of the program (default: the workspace)')
    .option('--preset <id>', 'preset to use; `qm bootstrap --list` lists them')
    .option('--description <text>', 'what it is for')
    .option('--tools <names>', 'expose only these tools, separated by commas')
    .option('--shared', 'also give the server to agents without a list of servers')
    .option('--agent <name>', 'also add the server to the list of this agent')
    .option('--no-start', 'do not start the server now to list its tools')
    .addHelpText(
      'after',
      helpExamples(
        'qm add files -- npx -y @modelcontextprotocol/server-filesystem .',
        "qm add docs https://docs.example.com/mcp --header 'Authorization: Bearer ${DOCS_TOKEN}'",
        'qm add history --preset git',
        'qm add wiki --preset notion --agent scribe',
      ),
    )
    .action((name: string, words: string[], options: AddOptions, command: Command) =>
      add(cli, readInvocation(command, cli), name, words, options),
    );
}

function collect(value: string, before: readonly string[] | undefined): readonly string[] {
  return [...(before ?? []), value];
}

async function add(
  cli: CliContext,
  invocation: Invocation,
  name: string,
  words: readonly string[],
  options: AddOptions,
): Promise<void> {
  const { workspace, json } = invocation;
  const [{ readOrder }, { addServer }, { agentsLine }, { awaitTakeUp, takeUpLine }, { firstStart }, { nextCommand }] =
    await Promise.all([
      import('../../servers/add-order.ts'),
      import('../../servers/add-server.ts'),
      import('../../agents/agents-line.ts'),
      import('../../hub/hub-take-up.ts'),
      import('../../hub/first-start.ts'),
      import('../../next-command.ts'),
    ]);
  const order = readOrder(name, words, options);
  const added = await addServer(cli, workspace, order);
  const hub = await awaitTakeUp(cli, workspace, {
    server: name,
    files: [added.source.file],
    isThere: (status) => status !== undefined,
  });
  const problems = added.server.kind === 'invalid' ? added.server.problems : [];
  const started =
    problems.length === 0 && options.start !== false ? await firstStart(cli, invocation, name, hub) : undefined;
  const answer: AddAnswer = {
    server: name,
    source: placeOf(added.source),
    state: added.server.kind === 'invalid' ? 'invalid' : 'idle',
    agents: added.agents === null ? null : [...added.agents],
    tools: started?.kind === 'listed' ? started.tools : null,
    problems: [...problems],
    hub,
  };
  const { terminal } = cli;
  if (json) {
    terminal.out(JSON.stringify(answer));
    return;
  }
  const { dim, bold } = terminal.errColours;
  terminal.out(`Added server ${name} in ${answer.source}.`);
  for (const remark of added.remarks) terminal.err(remark);
  const whose = agentsLine(added, terminal.errColours);
  if (whose !== undefined) terminal.err(whose);
  if (problems.length > 0) terminal.err('It is not ready yet:');
  for (const line of problemLines(problems, terminal.errColours)) terminal.err(`  ${line}`);
  for (const { name: variable, required, purpose } of order.preset?.variables ?? []) {
    if (!required) terminal.err(dim(`You may set ${variable}: ${purpose}.`));
  }
  const line = takeUpLine(hub);
  if (line !== undefined) terminal.err(line);
  if (started?.kind === 'listed') {
    terminal.err(`It answers: ${started.tools === 1 ? '1 tool' : `${started.tools} tools`}.`);
  }
  if (started?.kind === 'failed') terminal.err(`Added, but it does not answer yet. ${printableLine(started.why)}`);
  const next = started?.kind === 'listed' ? `connect CLIENT --agent ${order.agent ?? 'NAME'}` : `doctor ${name}`;
  terminal.errWhole(`Next: ${bold(nextCommand(cli, workspace, lockStep(cli, added.server) ?? next))}`);
}

/** With a lockfile, nothing of a new server is accepted yet. */
function lockStep({ terminal }: CliContext, server: ConfiguredServer): string | undefined {
  if (server.kind !== 'ready' || server.spec.lock === undefined) return undefined;
  terminal.err('Agents get its tools once quartermaster.lock has them.');
  return `lock ${server.spec.name}`;
}
