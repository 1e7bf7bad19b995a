import type { ServerResponse } from 'node:http';
import { type Clock, HubError, type Timer } from '../../base/index.ts';
import { createEventQueue, type Hub, type HubEvent } from '../../hub/index.ts';
import { sseComment } from '../../mcp/index.ts';
import { eventBody } from './bodies.ts';

export interface StreamEventsDeps {
  readonly hub: Pick<Hub, 'onEvent'>;
  readonly clock: Clock;
}

/** Streams of all listeners together: more than any page and terminal need. */
const maxStreams = 16;
/** Events that a slow reader may be behind; of more it is told how many it missed. */
const maxQueued = 256;
/** Proxies close streams on which nothing happens. */
const heartbeatMs = 15_000;
/** A reader that takes nothing for so many heartbeats is gone. */
const maxSilentBeats = 4;

/** Sends the events of the hub from now on, as server-sent events, until the reader leaves or the hub stops. */
export function createEventStreams({ hub, clock }: StreamEventsDeps): (response: ServerResponse) => void {
  let open = 0;
  return (response) => {
    if (open >= maxStreams) {
      throw new HubError('OVERLOADED', `${maxStreams} event streams are open already.`, {
        hint: 'Close one of them first.',
      });
    }
    open++;
    response.once('close', () => open--);
    streamTo(response, hub, clock);
  };
}

function streamTo(response: ServerResponse, hub: StreamEventsDeps['hub'], clock: Clock): void {
  const queue = createEventQueue(maxQueued);
  let blocked = false;
  let silentBeats = 0;
  let heartbeat: Timer | undefined;

  function flush(): void {
    while (!blocked) {
      const event = queue.shift();
      if (event === undefined) return;
      blocked = !response.write(frameOf(event));
    }
  }

  function beat(): void {
    silentBeats = blocked ? silentBeats + 1 : 0;
    if (silentBeats >= maxSilentBeats) {
      response.destroy();
      return;
    }
    if (!blocked) blocked = !response.write(sseComment);
    heartbeat = clock.setTimer(heartbeatMs, beat);
  }

  /** The hub does not wait for a slow reader. */
  function finish(): void {
    stop();
    heartbeat?.cancel();
    if (blocked) response.destroy();
    else response.end();
  }

  const stop = hub.onEvent((event) => {
    queue.push(event);
    flush();
    if (event.type === 'hub.stopping') finish();
  });
  response.on('drain', () => {
    blocked = false;
    flush();
  });
  response.once('close', () => {
    stop();
    heartbeat?.cancel();
  });
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
  beat();
}

function frameOf(event: HubEvent): string {
  return `event: ${event.type}\ndata: ${JSON.stringify(eventBody(event))}\n\n`;
}
