import { Command } from 'commander';
import { HubError, toHubError, wordsMeant } from '../../../base/index.ts';
import type { CliContext } from '../context.ts';
import type { DoctorServer, InspectAnswer } from '../doctor/diagnosis-shapes.ts';
import type { InspectTarget, InspectTargetOptions } from '../doctor/inspect-target.ts';
import { type Invocation, readInvocation } from '../global-options.ts';
import { helpExamples } from '../help-examples.ts';
import { printableLine } from '../terminal/printable.ts';
import { safeJson } from '../terminal/safe-json.ts';

export function inspectCommand(cli: CliContext): Command {
  return new Command('inspect')
    .description('connect to a server and show its tools, resources and prompts')
    .argument('<server...>', 'a configured server; or a URL, or -- and a program with its arguments')
    .option('--tool <name>', 'show one tool with its full schema')
    .option('--header <line>', "header for a URL, as 'Name: value'; may be repeated", collect)
    .option('--env <pair>', 'variable for a program after --, as NAME=VALUE; may be repeated', collect)
    .option('--timeout <seconds>', 'timeout per response (default: 15; 60 with npx, uvx and the like)')
    .option('--foreground', 'if no hub runs, run it in this process instead of in the background')
    .addHelpText(
      'after',
      helpExamples(
        'qm inspect files --tool read_file',
        'qm inspect https://docs.example.com/mcp --header "Authorization: Bearer $DOCS_TOKEN"',
        'qm inspect -- npx -y @modelcontextprotocol/server-memory',
      ),
    )
    .action((words: string[], options: InspectOptions, command: Command) =>
      inspect(cli, readInvocation(command, cli), words, options),
    );
}

function collect(value: string, before: readonly string[] | undefined): readonly string[] {
  return [...(before ?? []), value];
}

interface InspectOptions extends InspectTargetOptions {
  readonly tool?: string;
  readonly timeout?: string;
  readonly foreground?: boolean;
}

async function inspect(
  cli: CliContext,
  invocation: Invocation,
  words: readonly string[],
  options: InspectOptions,
): Promise<void> {
  const { terminal } = cli;
  const stop = cli.signals.graceful();
  const [{ readInspectTarget }, { readTimeout }] = await Promise.all([
    import('../doctor/inspect-target.ts'),
    import('../doctor/diagnosis-scope.ts'),
  ]);
  const target = readInspectTarget(words, options, cli.hasDashes);
  const timeoutMs = readTimeout(options.timeout);
  try {
    const outcome =
      target.kind === 'configured'
        ? await inspectConfigured(cli, invocation, target.server, { ...options, timeoutMs, stop })
        : await inspectGiven(cli, invocation, target, { timeoutMs, stop });
    terminal.progress('');
    if (outcome.kind === 'unavailable') return await explainAbsence(cli, invocation, outcome.row);
    await print(cli, invocation, outcome.answer, options.tool);
    if (target.kind !== 'configured' && !invocation.json) await sayHowToAdd(cli, invocation, target);
  } catch (error) {
    if (!stop.aborted || toHubError(error).code !== 'CANCELLED') throw error;
    terminal.err('Stopped.');
    cli.exitWith(130);
  }
}

type GivenTarget = Exclude<InspectTarget, { kind: 'configured' }>;

interface InspectTask {
  readonly timeoutMs: number | undefined;
  readonly stop: AbortSignal;
  readonly foreground?: boolean;
}

async function inspectConfigured(
  cli: CliContext,
  invocation: Invocation,
  server: string,
  { timeoutMs, stop, foreground }: InspectTask,
) {
  const [scope, { withHub }, { inspectOutcomeSchema }] = await Promise.all([
    import('../doctor/diagnosis-scope.ts'),
    import('../hub/join-hub.ts'),
    import('../doctor/inspect-in-hub.ts'),
  ]);
  const spec = scope.readySpec(await scope.readConfiguration(cli, invocation, [server]), server);
  cli.terminal.progress(`${server}: ${scope.startingText(spec)} …`);
  return withHub(cli, invocation, { foreground }, async (hub) => {
    const request = { name: 'inspect', params: { server, timeoutMs }, timeoutMs: silenceMs };
    return inspectOutcomeSchema.parse(await hub.operate(request, stop));
  });
}

async function inspectGiven(
  cli: CliContext,
  invocation: Invocation,
  target: GivenTarget,
  { timeoutMs, stop }: InspectTask,
) {
  const { inspectUnconfigured } = await import('../doctor/inspect-unconfigured.ts');
  cli.terminal.progress(target.kind === 'url' ? 'Connecting …' : `Starting ${printableLine(target.words[0])} …`);
  const outcome = await inspectUnconfigured(cli, invocation, target, { timeoutMs, signal: stop });
  if (stop.aborted) throw new HubError('CANCELLED', 'Stopped while waiting for the server.');
  return outcome;
}

/** Headers and variables are left out: they may be secrets, and belong into the store. */
async function sayHowToAdd(cli: CliContext, { workspace }: Invocation, target: GivenTarget): Promise<void> {
  const [{ targetName }, { nextCommand, shellWord }] = await Promise.all([
    import('../doctor/inspect-target.ts'),
    import('../next-command.ts'),
  ]);
  const { terminal, mask } = cli;
  const how = target.kind === 'url' ? target.url : `-- ${target.words.map(shellWord).join(' ')}`;
  const add = nextCommand(cli, workspace, `add ${targetName(target)}`);
  terminal.err('\nIt is not configured. To add it:');
  terminal.errWhole(`  ${terminal.errColours.bold(mask.text(`${add} ${how}`))}`);
}

/** A server may take its time, over several transports and lists. */
const silenceMs = 3_600_000;

async function print(
  { terminal }: CliContext,
  { json }: Invocation,
  answer: InspectAnswer,
  wanted: string | undefined,
): Promise<void> {
  const { inspectionLines, toolPage } = await import('../doctor/inspect-lines.ts');
  const page = { colours: terminal.colours, width: terminal.width };
  const tool = wanted === undefined ? undefined : await findTool(answer, wanted);
  if (json) terminal.out(safeJson(tool ?? answer));
  else for (const line of tool === undefined ? inspectionLines(answer, page) : toolPage(tool, page)) terminal.out(line);
}

/** Finds it by the server's own name, or by the name that agents usually see. */
async function findTool({ name, tools }: InspectAnswer, wanted: string): Promise<Record<string, unknown>> {
  const own = wanted.startsWith(`${name}.`) || wanted.startsWith(`${name}_`) ? wanted.slice(name.length + 1) : wanted;
  const found = tools.find((tool) => tool.name === wanted) ?? tools.find((tool) => tool.name === own);
  if (found !== undefined) return found;
  const names = tools.map((tool) => String(tool.name));
  const meant = wordsMeant(own, names);
  const some = names.length > 12 ? `${names.slice(0, 12).join(', ')} …` : names.join(', ');
  throw new HubError('USAGE', `Server "${name}" has no tool "${wanted.slice(0, 80)}".`, {
    hint: meant !== undefined ? `Did you mean ${meant}?` : names.length === 0 ? 'It has none.' : `It has ${some}.`,
  });
}

/** Explains a failed connection like the doctor. */
async function explainAbsence(cli: CliContext, { json }: Invocation, row: DoctorServer): Promise<void> {
  const { terminal } = cli;
  const [{ doctorExitCode }, { serverLines }] = await Promise.all([
    import('../doctor/doctor-row.ts'),
    import('../doctor/doctor-lines.ts'),
  ]);
  cli.exitWith(doctorExitCode([row]));
  if (!json) {
    const page = { colours: terminal.errColours, width: terminal.errIsTerminal ? terminal.size().columns : undefined };
    for (const line of serverLines(row, page)) terminal.errWhole(line);
    return;
  }
  const { code = 'UPSTREAM_UNAVAILABLE', message = '' } = row.attempts.at(-1)?.error ?? {};
  const hint = row.nextSteps.join(' ');
  terminal.err(JSON.stringify({ error: { code, message, ...(hint === '' ? {} : { hint }) } }));
}
