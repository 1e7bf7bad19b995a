import { sleep } from '../../../base/index.ts';
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
    return hub?.applied === true
      ? await watchHub(cli, invocation, name, stop)
      : await startHere(cli, invocation, name, stop);
  } finally {
    cli.terminal.progress('');
  }
}

/** The command that wrote the server has approved it. Nothing else is asked about here. */
async function startHere(
  cli: CliContext,
  invocation: Invocation,
  name: string,
  stop: AbortSignal,
): Promise<FirstStart> {
  const [{ readySpec }, { startOnce }] = await Promise.all([
    import('../doctor/diagnosis-scope.ts'),
    import('./start-once.ts'),
  ]);
  readySpec((await readWorkspaceTrust(cli, invocation.workspace)).configuration, name);
  const [started] = await startOnce(cli, invocation, [name]);
  if (started?.tools !== undefined) return { kind: 'listed', tools: started.tools };
  if (started === undefined && stop.aborted) return { kind: 'stopped' };
  return { kind: 'failed', why: started?.why ?? `Server "${name}" did not answer.` };
}

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
