import type { CallLine } from '../../../ledger/index.ts';
import type { CliContext } from '../context.ts';

/** A person who starts a client takes a while; one who forgot about it should not find a command that still runs. */
const patienceMs = 600_000;

export type FirstCall =
  | { readonly kind: 'call'; readonly call: CallLine }
  | { readonly kind: 'interrupted' }
  | { readonly kind: 'late' };

/** Waits for the first call of an agent from now on. */
export async function awaitFirstCall(cli: CliContext, workspace: string, agent: string): Promise<FirstCall> {
  const { clock, signals, terminal } = cli;
  const [{ followCalls }, { ledgerPlaces }, { stateLayout }] = await Promise.all([
    import('../../../ledger/index.ts'),
    import('../../../storage/index.ts'),
    import('../hub/state-layout.ts'),
  ]);
  const startedAt = clock.now();
  const [found, late] = [new AbortController(), new AbortController()];
  let first: CallLine | undefined;
  const onCall = (call: CallLine): void => {
    if (first !== undefined || call.agent !== agent || Date.parse(call.ts) < startedAt) return;
    first = call;
    found.abort();
  };
  const timer = clock.setTimer(patienceMs, () => late.abort());
  const interrupted = AbortSignal.any([signals.graceful(), terminal.gone]);
  try {
    const stop = AbortSignal.any([interrupted, found.signal, late.signal]);
    await followCalls(ledgerPlaces(stateLayout(cli, workspace)), { clock }, onCall, stop);
  } finally {
    timer.cancel();
  }
  if (first !== undefined) return { kind: 'call', call: first };
  return { kind: interrupted.aborted ? 'interrupted' : 'late' };
}
