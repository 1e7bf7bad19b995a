import { Command } from 'commander';
import { didYouMean, HubError, toHubError } from '../../../base/index.ts';
import type { CliContext } from '../context.ts';
import type { DoctorServer, InspectAnswer } from '../doctor/diagnosis-shapes.ts';
import { type Invocation, readInvocation } from '../global-options.ts';
import { helpExamples } from '../help-examples.ts';
import { safeJson } from '../terminal/safe-json.ts';

export function inspectCommand(cli: CliContext): Command {
  return new Command('inspect')
    .description('connect to a server and show its tools, resources and prompts')
    .addHelpText('after', helpExamples('qm inspect files', 'qm inspect files --tool read_file'))
    .argument('<server>', 'the server')
    .option('--tool <name>', 'show one tool with its full schema')
    .option('--timeout <seconds>', 'timeout per response (default: 15; 60 with npx, uvx and the like)')
    .option('--foreground', 'if no hub runs, run it in this process instead of in the background')
    .action((name: string, options: InspectOptions, command: Command) =>
      inspect(cli, readInvocation(command, cli), name, options),
    );
}

interface InspectOptions {
  readonly tool?: string;
  readonly timeout?: string;
  readonly foreground?: boolean;
}

async function inspect(
  cli: CliContext,
  invocation: Invocation,
  server: string,
  options: InspectOptions,
): Promise<void> {
  const { terminal } = cli;
  const stop = cli.signals.graceful();
  const [scope, { withHub }, { inspectOutcomeSchema }] = await Promise.all([
    import('../doctor/diagnosis-scope.ts'),
    import('../hub/join-hub.ts'),
    import('../doctor/inspect-in-hub.ts'),
  ]);
  const timeoutMs = scope.readTimeout(options.timeout);
  const spec = scope.readySpec(await scope.readConfiguration(cli, invocation, [server]), server);
  terminal.progress(`${server}: ${scope.startingText(spec)} …`);
  try {
    const outcome = await withHub(cli, invocation, options, async (hub) => {
      const request = { name: 'inspect', params: { server, timeoutMs }, timeoutMs: silenceMs };
      return inspectOutcomeSchema.parse(await hub.operate(request, stop));
    });
    if (outcome.kind === 'found') await print(cli, invocation, outcome.answer, options.tool);
    else await explainAbsence(cli, invocation, outcome.row);
  } catch (error) {
    if (!stop.aborted || toHubError(error).code !== 'CANCELLED') throw error;
    terminal.err('Stopped.');
    cli.exitWith(130);
  }
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
  const meant = didYouMean(own, names);
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
    for (const line of serverLines(row, page)) terminal.err(line);
    return;
  }
  const { code = 'UPSTREAM_UNAVAILABLE', message = '' } = row.attempts.at(-1)?.error ?? {};
  const hint = row.nextSteps.join(' ');
  terminal.err(JSON.stringify({ error: { code, message, ...(hint === '' ? {} : { hint }) } }));
}
