import type { HubEvent } from './hub-event.ts';

/** Events for a reader that may be slower than the hub. Beyond the limit, the oldest are dropped and counted. */
export interface EventQueue {
  push(event: HubEvent): void;
  /** The next event. `events.lost` replaces those that were dropped. */
  shift(): HubEvent | undefined;
}

export function createEventQueue(limit: number): EventQueue {
  const events: HubEvent[] = [];
  let lost = 0;
  let lostAt = 0;
  return {
    push(event) {
      events.push(event);
      if (events.length <= limit) return;
      lostAt = events.shift()?.time ?? 0;
      lost++;
    },
    shift() {
      if (lost === 0) return events.shift();
      const count = lost;
      lost = 0;
      return { type: 'events.lost', time: lostAt, count };
    },
  };
}
