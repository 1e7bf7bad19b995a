import { sleep, toHubError } from '../../../base/index.ts';
import type { CliContext } from '../context.ts';
import type { Invocation } from '../global-options.ts';
import { readWorkspaceTrust } from '../trust/workspace-trust.ts';
import type { TakeUp } from './hub-take-up.ts';

/** The result of starting a new server once. */
export type FirstStart =
  | { readonly kind: 'listed'; readonly tools: number }
  | { readonly kind: 'failed'; readonly why: string }
  | { readonly kind: 'stopped' };

/** A running hub has started the server already. Otherwise the hub is started now. */
export async function firstStart(
  cli: CliContext,
  invocation: Invocation,
  name: string,
  hub: TakeUp,
): Promise<FirstStart> {
  const stop = cli.signals.graceful();
  try {
    return hub?.tookUp === true
      ? await watchHub(cli, invocation, name, stop)
      : await startHere(cli, invocation, name, stop);
  } finally {
    cli.terminal.progress('');
  }
}

async function startHere(
  cli: CliContext,
  invocation: Invocation,
  name: string,
  stop: AbortSignal,
): Promise<FirstStart> {
  const { terminal } = cli;
  const [scope, { withHub }, { diagnoseEventSchema }] = await Promise.all([
    import('../doctor/diagnosis-scope.ts'),
    import('./join-hub.ts'),
    import('../doctor/diagnose-servers.ts'),
  ]);
  // The command that wrote the server has approved it. Nothing else is asked about here.
  const { configuration } = await readWorkspaceTrust(cli, invocation.workspace);
  const spec = scope.readySpec(configuration, name);
  terminal.progress(`${name}: ${scope.startingText(spec)} … (Ctrl-C skips this)`);
  let found: FirstStart = { kind: 'failed', why: `Server "${name}" did not answer.` };
  const onEvent = (told: unknown): void => {
    const event = diagnoseEventSchema.parse(told);
    if (event.kind !== 'found') return;
    const { tools, attempts } = event.row;
    const why = attempts.at(-1)?.error?.message ?? `Server "${name}" did not answer.`;
    found = tools === null ? { kind: 'failed', why } : { kind: 'listed', tools: tools.length };
  };
  try {
    await withHub(cli, invocation, {}, (hub) =>
      hub.operate({ name: 'diagnose', params: { servers: [name] }, timeoutMs: startMs, onEvent }, stop),
    );
    return found;
  } catch (error) {
    if (stop.aborted && toHubError(error).code === 'CANCELLED') return { kind: 'stopped' };
    throw error;
  }
}

/** Longer than any server may take. */
const startMs = 3_600_000;

async function watchHub(
  cli: CliContext,
  { workspace }: Invocation,
  name: string,
  stop: AbortSignal,
): Promise<FirstStart> {
  const { clock, terminal } = cli;
  const { findHub } = await import('./find-hub.ts');
  terminal.progress(`${name}: the hub starts it … (Ctrl-C skips this)`);
  const deadline = clock.monotonic() + hubPatienceMs;
  while (!stop.aborted) {
    const { servers = [] } = (await (await findHub(cli, workspace))?.servers()) ?? {};
    const status = servers.find((server) => server.name === name);
    if (status?.tools !== undefined) return { kind: 'listed', tools: status.tools };
    if (status?.error !== undefined) return { kind: 'failed', why: status.error };
    if (clock.monotonic() >= deadline) return { kind: 'failed', why: `Server "${name}" has not answered yet.` };
    await sleep(clock, 200, stop);
  }
  return { kind: 'stopped' };
}

/** As long as the hub itself waits for a server that has to be downloaded. */
const hubPatienceMs = 60_000;
