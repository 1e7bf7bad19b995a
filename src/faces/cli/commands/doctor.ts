import { Command } from 'commander';
import { createBuiltins } from '../../../apps/builtin/index.ts';
import { HubError, toHubError } from '../../../base/index.ts';
import { type Fleet, placeOf, type ServerSpec } from '../../../domain/index.ts';
import type { ProbeAttempt } from '../../../upstream/index.ts';
import { checkRun } from '../agent-option.ts';
import type { CliContext } from '../context.ts';
import type { DoctorServer } from '../diagnosis-shapes.ts';
import type { DoctorShow } from '../doctor-show.ts';
import { type Invocation, readInvocation } from '../global-options.ts';

export function doctorCommand(cli: CliContext): Command {
  return new Command('doctor')
    .description('try each server over each of its transports, and say what to do about those that fail')
    .argument('[server...]', 'only these (default: all)')
    .option('--timeout <seconds>', 'how long to try each server (default: 15, with npx, uvx and the like 60)')
    .option('--run <id>', 'the run to record the probes under (default: a new one)')
    .action((names: string[], options: DoctorOptions, command: Command) =>
      doctor(cli, readInvocation(command, cli), names, options),
    );
}

interface DoctorOptions {
  readonly timeout?: string;
  readonly run?: string;
}

async function doctor(
  cli: CliContext,
  invocation: Invocation,
  names: readonly string[],
  options: DoctorOptions,
): Promise<void> {
  const stop = AbortSignal.any([cli.signals.graceful(), cli.terminal.gone]);
  const [scope, rowing, { createDoctorShow }] = await Promise.all([
    import('../diagnosis-scope.ts'),
    import('../doctor-row.ts'),
    import('../doctor-show.ts'),
  ]);
  const patience = scope.readPatience(options.timeout);
  const run = checkRun(options.run);
  const fleet = await scope.readFleet(cli, invocation);
  const fatal = rowing.fatalProblems(fleet);
  // A file that cannot be read may have held the name.
  const servers = scope.pickServers(fleet, fatal.length === 0 ? names : []);
  const rows = new Map(servers.map((server) => [rowing.nameOf(server), rowing.unprobedRow(server)]));
  const specs = servers.flatMap((server) => (server.kind === 'ready' && server.spec.enabled ? [server.spec] : []));
  const problems = rowing.problemsFor(fleet, new Set(rows.keys()));
  const show = createDoctorShow(cli, invocation.json, {
    problems: rowing.problemsApart(problems, rows),
    names: specs.map(({ name }) => name),
  });
  const found = (): DoctorServer[] => [...rows.values()].filter((row) => row !== undefined);
  for (const row of found()) show.finding(row);
  if (fatal[0] !== undefined) {
    show.end({ run: null, servers: found(), problems });
    throw new HubError('CONFIG_INVALID', `No server was tried: ${placeOf(fatal[0])} has to be corrected first.`);
  }
  if (servers.length === 0 && problems.length === 0) sayEmpty(cli);
  const task = { fleet, specs, patience, run, stop };
  const usedRun = await probeAll(cli, invocation, task, show, (row) => rows.set(row.name, row));
  // The exit code that shells give for Ctrl-C.
  if (stop.aborted) cli.exitWith(130);
  if (cli.terminal.gone.aborted) return;
  if (stop.aborted) {
    if (!invocation.json) show.end({ run: usedRun, servers: found(), problems });
    sayStopped(cli, invocation, rows.size - found().length);
    return;
  }
  show.end({ run: usedRun, servers: found(), problems });
  const reachable = found().filter(({ verdict }) => verdict === 'reachable');
  await tellHub(cli, invocation, new Set(reachable.map(({ name }) => name)));
  cli.exitWith(rowing.doctorExitCode(found(), problems));
}

/** A running hub that gave a server up need not wait: the doctor has just reached it. */
async function tellHub(cli: CliContext, { workspace }: Invocation, reachable: ReadonlySet<string>): Promise<void> {
  const { findHub } = await import('../find-hub.ts');
  try {
    const hub = await findHub(workspace);
    const { servers = [] } = (await hub?.servers()) ?? {};
    for (const { name, tools, error } of servers) {
      if (reachable.has(name) && (tools === undefined || error !== undefined)) await hub?.retry(name);
    }
  } catch (error) {
    const { terminal } = cli;
    terminal.err(`${terminal.errColours.yellow('warning')} ${toHubError(error).message}`);
  }
}

function sayEmpty({ terminal }: CliContext): void {
  terminal.err(
    'No servers are configured here. Add one with `qm add`, take a ready one from `qm bootstrap --list`, or name a --workspace.',
  );
}

function sayStopped({ terminal }: CliContext, { json }: Invocation, left: number): void {
  const message = `Stopped; ${left === 1 ? '1 server was' : `${left} servers were`} not tried to the end.`;
  terminal.err(json ? JSON.stringify({ error: { code: 'CANCELLED', message } }) : message);
}

interface ProbeTask {
  readonly fleet: Fleet;
  readonly specs: readonly ServerSpec[];
  readonly patience: (spec: ServerSpec) => number;
  readonly run: string | undefined;
  readonly stop: AbortSignal;
}

/** Answers the run that the probes are recorded under; null where there was nothing to probe. */
async function probeAll(
  cli: CliContext,
  { logLevel }: Invocation,
  { fleet, specs, patience, run, stop }: ProbeTask,
  show: DoctorShow,
  onRow: (row: DoctorServer) => void,
): Promise<string | null> {
  if (specs.length === 0) return null;
  const { clock, random, env } = cli;
  const [{ openDiagnosis }, { probedRow }, { createLogger }, { startingText }] = await Promise.all([
    import('../../../hub/index.ts'),
    import('../doctor-row.ts'),
    import('../logger.ts'),
    import('../diagnosis-scope.ts'),
  ]);
  const logger = createLogger(cli, logLevel ?? 'silent');
  const diagnosis = await openDiagnosis(
    { clock, logger, random, env, builtins: createBuiltins() },
    { fleet, tool: 'doctor', run },
  );
  const release = (): void => show.pause();
  stop.addEventListener('abort', release, { once: true });
  try {
    await inLanes(specs, stop, async (spec) => {
      const timeoutMs = patience(spec);
      show.begin(spec.name, startingText(spec));
      const onTried = (attempt: ProbeAttempt): void => show.goOn(spec.name, afterwards(spec, attempt));
      const probe = await diagnosis.probe(spec, { timeoutMs, signal: stop, onTried });
      if (stop.aborted) return;
      const row = probedRow(cli, spec, probe, { timeoutMs });
      onRow(row);
      show.finding(row);
    });
    return diagnosis.run;
  } catch (error) {
    show.pause();
    throw error;
  } finally {
    stop.removeEventListener('abort', release);
    await diagnosis.close();
  }
}

/** What follows an attempt, in a few words. */
function afterwards(
  { transport, fallbacks }: ServerSpec,
  { transport: tried, verdict, httpStatus }: ProbeAttempt,
): string {
  if (verdict === 'reachable') return `${tried} answers, listing its tools`;
  const why = httpStatus === undefined ? `${tried} failed` : `${tried} answered ${httpStatus}`;
  if (tried === 'http' && (httpStatus === 404 || httpStatus === 405)) return `${why}, trying sse`;
  const all = [transport, ...fallbacks].map(({ type }) => type);
  const next = all[all.indexOf(tried) + 1];
  return next === undefined ? why : `${why}, trying ${next}`;
}

/** At once; more would only make slow starters slower. */
const lanes = 8;

async function inLanes<Item>(
  items: readonly Item[],
  stop: AbortSignal,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const waiting = [...items];
  async function lane(): Promise<void> {
    for (;;) {
      const item = waiting.shift();
      if (item === undefined || stop.aborted) return;
      await work(item);
    }
  }
  await Promise.all(Array.from({ length: lanes }, lane));
}
