import { Command } from 'commander';
import { HubError, toHubError } from '../../../base/index.ts';
import { type Problem, placeOf } from '../../../domain/index.ts';
import { checkRun } from '../agents/agent-option.ts';
import type { CliContext } from '../context.ts';
import type { DoctorAnswer, DoctorServer } from '../doctor/diagnosis-shapes.ts';
import type { DoctorShow } from '../doctor/doctor-show.ts';
import { type Invocation, readInvocation } from '../global-options.ts';
import { helpExamples } from '../help-examples.ts';

export function doctorCommand(cli: CliContext): Command {
  return new Command('doctor')
    .description('test the connection to each server and suggest how to fix failures')
    .addHelpText('after', helpExamples('qm doctor', 'qm doctor files github --timeout 60', 'qm doctor --frozen'))
    .argument('[server...]', 'servers to test (default: all)')
    .option('--timeout <seconds>', 'timeout per transport (default: 15; 60 with npx, uvx and the like)')
    .option('--run <id>', 'run to record the probes under (default: a new one)')
    .option('--frozen', 'exit 1 if a definition differs from quartermaster.lock, for CI')
    .option('--foreground', 'if no hub runs, run it in this process instead of in the background')
    .action((names: string[], options: DoctorOptions, command: Command) =>
      doctor(cli, readInvocation(command, cli), names, options),
    );
}

interface DoctorOptions {
  readonly timeout?: string;
  readonly run?: string;
  readonly frozen?: boolean;
  readonly foreground?: boolean;
}

async function doctor(
  cli: CliContext,
  invocation: Invocation,
  names: readonly string[],
  options: DoctorOptions,
): Promise<void> {
  const stop = AbortSignal.any([cli.signals.graceful(), cli.terminal.gone]);
  const [scope, rowing, { createDoctorShow, sayProblems }] = await Promise.all([
    import('../doctor/diagnosis-scope.ts'),
    import('../doctor/doctor-row.ts'),
    import('../doctor/doctor-show.ts'),
  ]);
  const timeoutMs = scope.readTimeout(options.timeout);
  const run = checkRun(options.run);
  const configuration = await scope.readConfiguration(cli, invocation, names.length === 0 ? undefined : names);
  const fatal = rowing.fatalProblems(configuration);
  // An unreadable file may have contained the name.
  const servers = scope.pickServers(configuration, fatal.length === 0 ? names : []);
  const rows = new Map(servers.map((server) => [rowing.doctorNameOf(server), rowing.unprobedRow(server)]));
  const usable = servers.flatMap((server) =>
    server.kind === 'ready' && server.spec.enabled ? [server.spec.name] : [],
  );
  const { connectionProblems } = await import('../connect/connected-client-problems.ts');
  const problems = [
    ...rowing.problemsFor(configuration, new Set(rows.keys())),
    ...(names.length === 0 ? await connectionProblems(cli, invocation.workspace, configuration) : []),
    ...(options.frozen === true ? rowing.frozenProblems(configuration) : []),
  ];
  const show = createDoctorShow(cli, invocation.json, {
    problems: rowing.problemsApart(problems, rows),
    names: usable,
  });
  const found = (): DoctorServer[] => [...rows.values()].filter((row) => row !== undefined);
  for (const row of found()) show.finding(row);
  if (fatal[0] !== undefined) {
    show.end({ run: null, servers: found(), problems, findings: [] });
    throw new HubError('CONFIG_INVALID', `No server was tried: ${placeOf(fatal[0])} has to be corrected first.`);
  }
  if (servers.length === 0 && problems.length === 0) sayEmpty(cli);
  const { frozen, foreground } = options;
  const task = { servers: usable, timeoutMs, run, frozen, foreground, stop };
  const onRow = (row: DoctorServer): void => void rows.set(row.name, row);
  const { run: usedRun, renamed: aboutNames, findings } = await probeAll(cli, invocation, task, show, onRow);
  // The conventional exit code for Ctrl-C.
  if (stop.aborted) cli.exitWith(130);
  if (cli.terminal.gone.aborted) return;
  if (stop.aborted) {
    if (!invocation.json) show.end({ run: usedRun, servers: found(), problems, findings });
    sayStopped(cli, invocation, rows.size - found().length);
    return;
  }
  show.end({ run: usedRun, servers: found(), problems: [...problems, ...aboutNames], findings });
  if (!invocation.json) sayProblems(cli, aboutNames);
  if (!invocation.json && names.length === 0) await sayUnignored(cli, invocation);
  cli.exitWith(rowing.doctorExitCode(found(), frozen === true ? [...problems, ...aboutNames] : problems));
  if (!invocation.json && problems.length > 0 && cli.stdin.isTTY === true && cli.terminal.errIsTerminal) {
    const { offerToMove } = await import('../secrets/move-action.ts');
    await offerToMove(cli, invocation.workspace, new Set(rows.keys()));
  }
}

function sayEmpty({ terminal }: CliContext): void {
  terminal.err(
    'No servers are configured here. Add one with `qm add`, use a preset from `qm bootstrap --list`, or set --workspace.',
  );
}

async function sayUnignored(cli: CliContext, { workspace }: Invocation): Promise<void> {
  const { runFilesNote } = await import('../calls/run-files-note.ts');
  const note = await runFilesNote(cli, workspace);
  if (note !== undefined) cli.terminal.err(note);
}

function sayStopped({ terminal }: CliContext, { json }: Invocation, left: number): void {
  const message = `Stopped; ${left === 1 ? '1 server was' : `${left} servers were`} not tried to the end.`;
  terminal.err(json ? JSON.stringify({ error: { code: 'CANCELLED', message } }) : message);
}

interface ProbeTask {
  readonly servers: readonly string[];
  readonly timeoutMs: number | undefined;
  readonly run: string | undefined;
  readonly frozen: boolean | undefined;
  readonly foreground: boolean | undefined;
  readonly stop: AbortSignal;
}

interface Probed {
  /** The run that the probes are recorded under; null if there was nothing to probe, or it was stopped. */
  readonly run: string | null;
  /** Problems with names, which show only once the tools are known. */
  readonly renamed: readonly Problem[];
  readonly findings: DoctorAnswer['findings'];
}

/** A probe may take its time, over several transports and lists. */
const silenceMs = 3_600_000;

async function probeAll(
  cli: CliContext,
  invocation: Invocation,
  { servers, timeoutMs, run, frozen, foreground, stop }: ProbeTask,
  show: DoctorShow,
  onRow: (row: DoctorServer) => void,
): Promise<Probed> {
  const nothing = { run: null, renamed: [], findings: [] };
  if (servers.length === 0) return nothing;
  const [{ withHub }, { diagnoseEventSchema, diagnoseOutcomeSchema }] = await Promise.all([
    import('../hub/join-hub.ts'),
    import('../doctor/diagnose-servers.ts'),
  ]);
  const begun = new Set<string>();
  const onEvent = (told: unknown): void => {
    const event = diagnoseEventSchema.parse(told);
    if (stop.aborted) return;
    if (event.kind === 'step') {
      if (begun.has(event.server)) show.goOn(event.server, event.text);
      else show.begin(event.server, event.text);
      begun.add(event.server);
    } else {
      onRow(event.row);
      show.finding(event.row);
    }
  };
  const release = (): void => show.pause();
  stop.addEventListener('abort', release, { once: true });
  try {
    return await withHub(cli, invocation, { foreground }, async (hub) => {
      const request = { name: 'diagnose', params: { servers, timeoutMs, run, frozen }, timeoutMs: silenceMs, onEvent };
      return diagnoseOutcomeSchema.parse(await hub.operate(request, stop));
    });
  } catch (error) {
    if (stop.aborted && toHubError(error).code === 'CANCELLED') return nothing;
    show.pause();
    throw error;
  } finally {
    stop.removeEventListener('abort', release);
  }
}
