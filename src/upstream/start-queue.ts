import { type Clock, HubError } from '../base/index.ts';

/** Who waits for a server to start: nobody yet, a list, or a call. Later ones in `priorities` go first. */
export type StartPriority = (typeof priorities)[number];

/** Few servers start at a time: making a process holds up the event loop, and many at once hold up the machine. */
export interface StartQueue {
  /** For one connect of one server; it may start several processes, one after another. */
  join(priority: StartPriority): StartPlace;
}

/** The place of one connect in the queue. */
export interface StartPlace {
  /** Somebody more important waits for the server now. A place never moves back. */
  raise(priority: StartPriority): void;
  /** Waits until a process may be started. Call the result once the server answered or failed. Rejects on abort. */
  turn(signal: AbortSignal): Promise<() => void>;
}

export interface StartQueueOptions {
  readonly atOnce?: number;
  /** A server that takes longer than this to answer lets the next one start. */
  readonly holdMs?: number;
}

const priorities = ['background', 'list', 'call'] as const;

interface Waiting {
  grant(): void;
}

export function createStartQueue(deps: { readonly clock: Clock }, options: StartQueueOptions = {}): StartQueue {
  const { clock } = deps;
  const { atOnce = 8, holdMs = 2000 } = options;
  const waiting: Readonly<Record<StartPriority, Set<Waiting>>> = {
    background: new Set(),
    list: new Set(),
    call: new Set(),
  };
  let starting = 0;

  function next(): Waiting | undefined {
    const first = priorities.findLast((priority) => waiting[priority].size > 0);
    if (first === undefined) return undefined;
    const [oldest] = waiting[first];
    if (oldest !== undefined) waiting[first].delete(oldest);
    return oldest;
  }

  function begin(): () => void {
    starting++;
    let held = true;
    const timer = clock.setTimer(holdMs, end);
    function end(): void {
      if (!held) return;
      held = false;
      timer.cancel();
      starting--;
      if (starting < atOnce) next()?.grant();
    }
    return end;
  }

  function join(first: StartPriority): StartPlace {
    let priority = first;
    let mine: Waiting | undefined;

    function leave(): void {
      if (mine !== undefined) waiting[priority].delete(mine);
      mine = undefined;
    }

    return {
      raise(wanted) {
        if (priorities.indexOf(wanted) <= priorities.indexOf(priority)) return;
        if (mine !== undefined && waiting[priority].delete(mine)) waiting[wanted].add(mine);
        priority = wanted;
      },
      turn(signal) {
        if (signal.aborted) return Promise.reject(givenUp());
        if (starting < atOnce) return Promise.resolve(begin());
        return new Promise((resolve, reject) => {
          const giveUp = (): void => {
            leave();
            reject(givenUp());
          };
          mine = {
            grant() {
              mine = undefined;
              signal.removeEventListener('abort', giveUp);
              resolve(begin());
            },
          };
          waiting[priority].add(mine);
          signal.addEventListener('abort', giveUp, { once: true });
        });
      },
    };
  }

  return { join };
}

function givenUp(): HubError {
  return new HubError('CANCELLED', 'The server was not started: nobody waits for it any more.');
}
