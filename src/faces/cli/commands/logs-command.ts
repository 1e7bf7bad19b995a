import { Command } from 'commander';
import { HubError, toHubError } from '../../../base/index.ts';
import type { ServerSpec } from '../../../domain/index.ts';
import type { CliContext } from '../context.ts';
import { type Invocation, readInvocation } from '../global-options.ts';
import { helpExamples } from '../help-examples.ts';
import type { ServerLogPart } from '../hosting/server-log.ts';
import type { LogLine } from '../json-shapes.ts';
import { printable, printableLine } from '../terminal/printable.ts';
import { safeJson } from '../terminal/safe-json.ts';

export function logsCommand(cli: CliContext): Command {
  return new Command('logs')
    .description('show what a server wrote to stderr, also one that failed to start')
    .argument('<server>', 'a server that the hub starts')
    .option('--follow', 'print further lines as they come, until Ctrl-C')
    .option('--all', 'also show lines of earlier processes of the server')
    .option('--lines <count>', 'number of lines to show', '100')
    .addHelpText('after', helpExamples('qm logs files', 'qm logs files --all', 'qm logs files --follow --lines 20'))
    .action((name: string, options: LogsOptions, command: Command) =>
      logs(cli, readInvocation(command, cli), name, options),
    );
}

interface LogsOptions {
  readonly follow?: boolean;
  readonly all?: boolean;
  readonly lines: string;
}

async function logs(cli: CliContext, invocation: Invocation, server: string, options: LogsOptions): Promise<void> {
  const [{ attachToHub }, { readOutcome }, { serverLogSchema }] = await Promise.all([
    import('../hub/attach-to-hub.ts'),
    import('../../attach/index.ts'),
    import('../hosting/server-log.ts'),
  ]);
  const [lines, follow] = [readLines(options.lines), options.follow === true];
  await refuseSilent(cli, invocation, server);
  const stop = AbortSignal.any([cli.signals.graceful(), cli.terminal.gone]);
  const operation = { name: 'logs', params: { server, lines, follow, all: options.all === true } };
  const attached = await attachToHub(cli, invocation, { agent: 'operator', operation });
  if (attached === undefined) throw noHub(server);
  const end = (): void => void attached.socket.destroy();
  stop.addEventListener('abort', end, { once: true });
  if (stop.aborted) end();
  const print = createPrinter(cli, invocation, server);
  try {
    const rest = await readOutcome(attached, cli.clock, {
      maxBytes: 64 * 1024 * 1024,
      timeoutMs: follow ? longestTimerMs : 30_000,
      onEvent: (event) => print(serverLogSchema.parse(event), true),
    });
    print(serverLogSchema.parse(rest), follow);
  } catch (error) {
    if (stop.aborted) return;
    throw toHubError(error).code === 'HUB_LOST' ? hubEnded(error) : error;
  }
}

/** The longest that Node takes. Servers may be silent for days. */
const longestTimerMs = 2 ** 31 - 1;

function createPrinter(
  { terminal }: CliContext,
  { json }: Invocation,
  server: string,
): (part: ServerLogPart, follow: boolean) => void {
  const { dim } = terminal.errColours;
  let process: number | undefined;
  return ({ lines, missed, earlier, error }, follow) => {
    if (earlier > 0 && !json) {
      const what = earlier === 1 ? '1 line' : `${earlier} lines`;
      terminal.err(dim(`… ${what} of earlier processes: \`qm logs ${server} --all\` …`));
    }
    if (missed > 0) terminal.err(dim(`… ${missed} lines came too fast to be kept …`));
    for (const { at, pid, text } of lines) {
      const time = new Date(at);
      const line: LogLine = { time: time.toISOString(), server, pid, line: text };
      if (json) {
        terminal.out(safeJson(line));
        continue;
      }
      // Of little use in a pipe, where only the lines count.
      if (pid !== process && terminal.errIsTerminal)
        terminal.err(dim(`Process ${pid}, ${time.toTimeString().slice(0, 8)}:`));
      process = pid;
      terminal.out(printable(text));
    }
    const isSilent = lines.length === 0 && (error !== null || !follow);
    if (isSilent && !json) terminal.err(nothingWritten(server, error));
  };
}

function nothingWritten(server: string, error: string | null): string {
  if (error === null) return `Server ${server} wrote nothing to stderr since the hub started.`;
  return `Server ${server} wrote nothing to stderr. ${printableLine(error)} \`qm doctor ${server}\` explains how to fix it.`;
}

/** Only a program has a stderr here. */
async function refuseSilent(cli: CliContext, { workspace }: Invocation, name: string): Promise<void> {
  const [{ loadWorkspace }, { unknownServer }] = await Promise.all([
    import('../servers/load-workspace.ts'),
    import('../servers/unknown-server.ts'),
  ]);
  const { servers } = await loadWorkspace(cli, workspace);
  const server = servers.get(name);
  if (server === undefined) throw unknownServer(name, servers.keys());
  if (server.kind !== 'ready') return;
  const kinds = transportsOf(server.spec);
  if (kinds.has('stdio')) return;
  if (kinds.has('builtin')) {
    throw new HubError('USAGE', `Server ${name} is built in: it runs inside the hub and has no stderr of its own.`, {
      hint: 'The hub logs its failures; `qm state path` prints the folder with hub.log.',
    });
  }
  throw new HubError('USAGE', `Server ${name} is reached over HTTP, so the hub does not see its stderr.`, {
    hint: `Look at the logs of the server itself. \`qm doctor ${name}\` tests it, and \`qm calls --server ${name} --status error\` shows failed calls.`,
  });
}

function transportsOf({ transport, fallbacks }: ServerSpec): ReadonlySet<string> {
  return new Set([transport, ...fallbacks].map(({ type }) => type));
}

function noHub(server: string): HubError {
  return new HubError('HUB_NOT_RUNNING', 'No hub runs in this workspace, and a hub that ended keeps no output.', {
    hint: `\`qm doctor ${server}\` starts the server and says why it fails; run \`qm logs ${server}\` after it, or while \`qm serve\` runs.`,
  });
}

function hubEnded(cause: unknown): HubError {
  return new HubError('HUB_LOST', 'The hub has ended, and its servers with it.', {
    hint: 'Run the command again when the next hub runs.',
    cause,
  });
}

function readLines(text: string): number {
  const lines = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (lines > 0) return lines;
  throw new HubError('USAGE', `"${text.slice(0, 40)}" is not a number of lines.`, { hint: 'Write --lines 100.' });
}
