import { createBuiltins } from '../../apps/builtin/index.ts';
import { sleep } from '../../base/index.ts';
import type { CliContext } from './context.ts';
import type { Invocation } from './global-options.ts';
import type { TakeUp } from './hub-take-up.ts';

/** What a new server said when it was started once; undefined where nobody could start it. */
export type FirstStart =
  | { readonly kind: 'listed'; readonly tools: number }
  | { readonly kind: 'failed'; readonly why: string }
  | { readonly kind: 'stopped' };

/** The hub that runs has started it already; else it is started here, and what it offers is kept for the next hub. */
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
  const { clock, random, env, terminal, mask } = cli;
  const [scope, { openDiagnosis }, { createLogger }] = await Promise.all([
    import('./diagnosis-scope.ts'),
    import('../../hub/index.ts'),
    import('./logger.ts'),
  ]);
  const fleet = await scope.readFleet(cli, invocation);
  const spec = scope.readySpec(fleet, name);
  const logger = createLogger(cli, invocation.logLevel ?? 'silent');
  const deps = { clock, logger, random, env, builtins: createBuiltins() };
  const diagnosis = await openDiagnosis(deps, { fleet, tool: 'doctor' });
  try {
    terminal.progress(`${name}: ${scope.startingText(spec)} … (Ctrl-C skips this)`);
    const probe = await diagnosis.probe(spec, { timeoutMs: scope.readPatience(undefined)(spec), signal: stop });
    if (stop.aborted) return { kind: 'stopped' };
    if (probe.catalog !== undefined) return { kind: 'listed', tools: probe.catalog.tools.length };
    const error = probe.attempts.at(-1)?.error;
    return { kind: 'failed', why: mask.text(error?.message ?? `Server "${name}" did not answer.`) };
  } finally {
    await diagnosis.close();
  }
}

async function watchHub(
  { clock, terminal }: CliContext,
  { workspace }: Invocation,
  name: string,
  stop: AbortSignal,
): Promise<FirstStart> {
  const { findHub } = await import('./find-hub.ts');
  terminal.progress(`${name}: the hub starts it … (Ctrl-C skips this)`);
  const deadline = clock.monotonic() + hubPatienceMs;
  while (!stop.aborted) {
    const { servers = [] } = (await (await findHub(workspace))?.servers()) ?? {};
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
