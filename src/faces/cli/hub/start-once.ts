import { toHubError } from '../../../base/index.ts';
import type { CliContext } from '../context.ts';
import type { Invocation } from '../global-options.ts';
import { readOfflineServers } from '../servers/offline-servers.ts';

export interface StartedServer {
  readonly server: string;
  /** Undefined if it did not answer. */
  readonly tools: number | undefined;
  /** Why it did not. */
  readonly why: string;
}

/** Longer than any server may take. */
const startMs = 3_600_000;

/** Starts these servers through the hub and lists their tools. After Ctrl-C, returns those that have answered. */
export async function startOnce(
  cli: CliContext,
  invocation: Invocation,
  names: readonly string[],
): Promise<readonly StartedServer[]> {
  const [{ withHub }, { diagnoseEventSchema }] = await Promise.all([
    import('./join-hub.ts'),
    import('../doctor/diagnose-servers.ts'),
  ]);
  const { terminal, signals } = cli;
  const stop = signals.graceful();
  const started: StartedServer[] = [];
  const onEvent = (told: unknown): void => {
    const event = diagnoseEventSchema.parse(told);
    if (event.kind === 'found') {
      const { name, tools, attempts } = event.row;
      const why = attempts.at(-1)?.error?.message ?? `Server "${name}" did not answer.`;
      started.push({ server: name, tools: tools?.length, why });
    }
    const left = names.filter((name) => !started.some(({ server }) => server === name));
    const doing = event.kind === 'step' && names.length === 1 ? `${event.server}: ${event.text}` : left.join(', ');
    if (left.length > 0) terminal.progress(`Starting ${doing} … (Ctrl-C skips this)`);
  };
  try {
    const request = { name: 'diagnose', params: { servers: names }, timeoutMs: startMs, onEvent };
    await withHub(cli, invocation, {}, (hub) => hub.operate(request, stop));
  } catch (error) {
    if (!stop.aborted || toHubError(error).code !== 'CANCELLED') throw error;
  } finally {
    terminal.progress('');
  }
  return started;
}

/** Starts every trusted server that was never listed, so that the first list of a client is complete. */
export async function startNewServers(cli: CliContext, invocation: Invocation): Promise<readonly StartedServer[]> {
  const { servers } = await readOfflineServers(cli, invocation.workspace);
  const fresh = servers.flatMap(({ name, state, tools }) => (state === 'idle' && tools === undefined ? [name] : []));
  return fresh.length === 0 ? [] : await startOnce(cli, invocation, fresh);
}
