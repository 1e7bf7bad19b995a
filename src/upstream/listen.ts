import { type Clock, HubError, type Timer } from '../base/index.ts';
import { controlRequest, type Wire, type WireCall } from './wire.ts';

/** A subscription has no natural end; after twelve days it is simply asked for again. */
const foreverMs = 2 ** 30;
const firstDelayMs = 1000;
const maxDelayMs = 60_000;

/** Keeps a modern server's `subscriptions/listen` open; changes arrive as notifications of the wire. */
export function keepListening(clock: Clock, wire: Wire): () => void {
  let stopped = false;
  let call: WireCall | undefined;
  let timer: Timer | undefined;
  let delayMs = firstDelayMs;

  function listen(): void {
    const params = { notifications: { toolsListChanged: true } };
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
