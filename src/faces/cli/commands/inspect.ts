import { Command } from 'commander';
import { createBuiltins } from '../../../apps/builtin/index.ts';
import { HubError } from '../../../base/index.ts';
import { placeOf, type ServerSpec } from '../../../domain/index.ts';
import type { InspectOutcome } from '../../../hub/index.ts';
import { isModernVersion } from '../../../mcp/index.ts';
import type { Inspection, Probe } from '../../../upstream/index.ts';
import type { CliContext } from '../context.ts';
import type { InspectAnswer } from '../diagnosis-shapes.ts';
import { type Invocation, readInvocation } from '../global-options.ts';
import { safeJson } from '../safe-json.ts';

export function inspectCommand(cli: CliContext): Command {
  return new Command('inspect')
    .description('connect to a server and show everything it offers: tools with their arguments, resources, prompts')
    .argument('<server>', 'the server')
    .option('--tool <name>', 'one tool, with its whole schema')
    .option('--timeout <seconds>', 'how long to wait for each answer (default: 15, with npx, uvx and the like 60)')
    .action((name: string, options: InspectOptions, command: Command) =>
      inspect(cli, readInvocation(command, cli), name, options),
    );
}

type Told = Extract<InspectOutcome, { kind: 'told' }>;

interface InspectOptions {
  readonly tool?: string;
  readonly timeout?: string;
}

async function inspect(cli: CliContext, invocation: Invocation, name: string, options: InspectOptions): Promise<void> {
  const { clock, random, env, terminal } = cli;
  const stop = cli.signals.graceful();
  const [scope, { openDiagnosis }, { createLogger }] = await Promise.all([
    import('../diagnosis-scope.ts'),
    import('../../../hub/index.ts'),
    import('../logger.ts'),
  ]);
  const patience = scope.readPatience(options.timeout);
  const fleet = await scope.readFleet(cli, invocation);
  const spec = scope.readySpec(fleet, name);
  const timeoutMs = patience(spec);
  const logger = createLogger(cli, invocation.logLevel ?? 'silent');
  const diagnosis = await openDiagnosis(
    { clock, logger, random, env, builtins: createBuiltins() },
    { fleet, tool: 'inspect' },
  );
  try {
    terminal.progress(`${name}: ${scope.startingText(spec)} …`);
    const outcome = await diagnosis.inspect(spec, { timeoutMs, signal: stop });
    terminal.progress('');
    if (stop.aborted) {
      terminal.err('Stopped.');
      cli.exitWith(130);
    } else if (outcome.kind === 'told') await print(cli, invocation, toAnswer(spec, outcome), options.tool);
    else await explainAbsence(cli, invocation, spec, outcome.probe, timeoutMs);
  } finally {
    terminal.progress('');
    await diagnosis.close();
  }
}

function toAnswer(spec: ServerSpec, { inspection, exposed }: Told): InspectAnswer {
  const { serverInfo, instructions, tools, ...found } = inspection;
  return {
    name: spec.name,
    source: placeOf(spec.source),
    transport: found.transport,
    protocolVersion: found.protocolVersion,
    serverInfo: serverInfo ?? null,
    instructions: instructions ?? null,
    capabilities: { ...found.capabilities },
    isolation: spec.isolation,
    notOffered: notOffered(spec, found),
    tools: tools.map(({ text }) => JSON.parse(text) as Record<string, unknown>), // written by the reader of tools
    resources: [...found.resources],
    resourceTemplates: [...found.resourceTemplates],
    prompts: [...found.prompts],
    exposed: [...exposed],
    warnings: [...found.warnings],
  };
}

/**
 * On a connection that many share, questions of a legacy server belong to nobody; a modern one asks in its answer. Log
 * messages say of no call that they belong to it, unless each call has a stream of its own.
 */
function notOffered(
  { isolation }: ServerSpec,
  { protocolVersion, transport }: Pick<Inspection, 'protocolVersion' | 'transport'>,
): InspectAnswer['notOffered'] {
  if (isolation !== 'shared') return [];
  const logs = transport === 'http' ? [] : (['logging'] as const);
  return isModernVersion(protocolVersion) ? [...logs] : ['elicitation', 'sampling', 'roots', ...logs];
}

async function print(
  { terminal }: CliContext,
  { json }: Invocation,
  answer: InspectAnswer,
  wanted: string | undefined,
): Promise<void> {
  const { inspectionLines, toolPage } = await import('../inspect-lines.ts');
  const page = { colours: terminal.colours, width: terminal.width };
  const tool = wanted === undefined ? undefined : await findTool(answer, wanted);
  if (json) terminal.out(safeJson(tool ?? answer));
  else for (const line of tool === undefined ? inspectionLines(answer, page) : toolPage(tool, page)) terminal.out(line);
}

/** By the server's own name, or by the one that agents usually see. */
async function findTool({ name, tools }: InspectAnswer, wanted: string): Promise<Record<string, unknown>> {
  const own = wanted.startsWith(`${name}.`) || wanted.startsWith(`${name}_`) ? wanted.slice(name.length + 1) : wanted;
  const found = tools.find((tool) => tool.name === wanted) ?? tools.find((tool) => tool.name === own);
  if (found !== undefined) return found;
  const { didYouMean } = await import('../../../config/index.ts');
  const names = tools.map((tool) => String(tool.name));
  const meant = didYouMean(own, names);
  const some = names.length > 12 ? `${names.slice(0, 12).join(', ')} …` : names.join(', ');
  throw new HubError('USAGE', `Server "${name}" has no tool "${wanted.slice(0, 80)}".`, {
    hint: meant !== undefined ? `Did you mean ${meant}?` : names.length === 0 ? 'It has none.' : `It has ${some}.`,
  });
}

/** Why there is no connection, as the doctor would say it. */
async function explainAbsence(
  cli: CliContext,
  { json }: Invocation,
  spec: ServerSpec,
  probe: Probe,
  timeoutMs: number,
): Promise<void> {
  const { terminal } = cli;
  const [{ doctorExitCode, probedRow }, { serverLines }] = await Promise.all([
    import('../doctor-row.ts'),
    import('../doctor-lines.ts'),
  ]);
  const row = probedRow(cli, spec, probe, { timeoutMs });
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
