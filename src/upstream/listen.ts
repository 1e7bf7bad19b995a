import { type Clock, HubError, type Timer } from '../base/index.ts';
import type { Agreement } from './handshake.ts';
import { controlRequest, type Wire, type WireCall } from './wire.ts';

/** A subscription has no natural end; after twelve days it is simply asked for again. */
const foreverMs = 2 ** 30;
const firstDelayMs = 1000;
const maxDelayMs = 60_000;

/** Keeps a modern server's `subscriptions/listen` open; changes arrive as notifications of the wire. */
export function keepListening(clock: Clock, wire: Wire, announces: Agreement['announces']): () => void {
  let stopped = false;
  let call: WireCall | undefined;
  let timer: Timer | undefined;
  let delayMs = firstDelayMs;
  const params = { notifications: filterOf(announces) };

  function listen(): void {
    const startedAt = clock.monotonic();
    call = wire.request(controlRequest('subscriptions/listen', params, foreverMs));
    void call.reply.then((reply) => {
      if (stopped || reply.kind === 'error') return;
      if (clock.monotonic() - startedAt > maxDelayMs) delayMs = firstDelayMs;
      timer = clock.setTimer(delayMs, listen);
      delayMs = Math.min(delayMs * 2, maxDelayMs);
    });
  }

  listen();
  return () => {
    stopped = true;
    timer?.cancel();
    call?.cancel(new HubError('CANCELLED', 'the connection is closing'));
  };
}

/** Servers need not know what they do not have. */
function filterOf({ tools, resources, prompts }: Agreement['announces']): Record<string, boolean> {
  return {
    ...(tools && { toolsListChanged: true }),
    ...(resources && { resourcesListChanged: true }),
    ...(prompts && { promptsListChanged: true }),
  };
}
