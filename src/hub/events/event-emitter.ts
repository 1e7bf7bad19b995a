import { type Clock, contain, type Logger } from '../../base/index.ts';
import type { HubEvent, ProcessEvent, ProjectFacts } from './hub-event.ts';

/** One stream of events for all listeners. It never blocks the hub. */
export interface HubEventEmitter {
  /** Listeners are called synchronously and in order. An error of one is logged and does not affect the others. */
  on(listener: HubEventListener): () => void;
  emit(event: ProcessEvent): void;
  /** Emits events of one project. */
  forProject(project: string): EmitEvent;
}

export type HubEventListener = (event: HubEvent) => void;
export type EmitEvent = (facts: ProjectFacts) => void;

export function createEventEmitter(deps: { readonly clock: Clock; readonly logger: Logger }): HubEventEmitter {
  const { clock, logger } = deps;
  const listeners = new Set<{ readonly listener: HubEventListener }>();

  function send(event: HubEvent): void {
    for (const { listener } of listeners)
      contain(logger, 'events.listener-failed', { type: event.type }, () => listener(event));
  }

  return {
    on(listener) {
      // The same function may listen twice.
      const entry = { listener };
      listeners.add(entry);
      return () => void listeners.delete(entry);
    },
    emit: (event) => send({ time: clock.now(), ...event }),
    forProject: (project) => (facts) => send({ time: clock.now(), project, ...facts }),
  };
}
