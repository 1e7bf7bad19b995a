import { type Clock, HubError } from '../../base/index.ts';

/** What waits for a server to start: nothing yet, a list, or a call. Later entries of `priorities` go first. */
export type StartPriority = (typeof priorities)[number];

/** Limits how many servers start at once: each new process blocks the event loop, and many slow down the machine. */
export interface StartQueue {
  /** Adds one connection attempt. It may start several processes, one after another. */
  join(priority: StartPriority): StartPlace;
}

/** The place of one connection attempt in the queue. */
export interface StartPlace {
  /** Raises the priority. A place never moves back. */
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
  const starts = new RunningStarts(deps.clock, options);
  return { join: (priority) => new QueuePlace(starts, priority) };
}

/** Counts the servers that are starting, and the places that wait for one of them to finish. */
class RunningStarts {
  readonly waiting: Readonly<Record<StartPriority, Set<Waiting>>> = {
    background: new Set(),
    list: new Set(),
    call: new Set(),
  };
  readonly #clock: Clock;
  readonly #atOnce: number;
  readonly #holdMs: number;
  #starting = 0;

  constructor(clock: Clock, { atOnce = 8, holdMs = 2000 }: StartQueueOptions) {
    this.#clock = clock;
    this.#atOnce = atOnce;
    this.#holdMs = holdMs;
  }

  get isFull(): boolean {
    return this.#starting >= this.#atOnce;
  }

  /** Takes a turn. The result ends it, as does the time limit. */
  begin(): () => void {
    this.#starting++;
    let isTaken = true;
    const end = (): void => {
      if (!isTaken) return;
      isTaken = false;
      timer.cancel();
      this.#starting--;
      if (!this.isFull) this.#takeNext()?.grant();
    };
    const timer = this.#clock.setTimer(this.#holdMs, end);
    return end;
  }

  /** The oldest of the highest priority. */
  #takeNext(): Waiting | undefined {
    const first = priorities.findLast((priority) => this.waiting[priority].size > 0);
    if (first === undefined) return undefined;
    const [oldest] = this.waiting[first];
    if (oldest !== undefined) this.waiting[first].delete(oldest);
    return oldest;
  }
}

class QueuePlace implements StartPlace {
  readonly #starts: RunningStarts;
  #priority: StartPriority;
  #mine: Waiting | undefined;

  constructor(starts: RunningStarts, priority: StartPriority) {
    this.#starts = starts;
    this.#priority = priority;
  }

  raise(wanted: StartPriority): void {
    if (priorities.indexOf(wanted) <= priorities.indexOf(this.#priority)) return;
    const { waiting } = this.#starts;
    if (this.#mine !== undefined && waiting[this.#priority].delete(this.#mine)) waiting[wanted].add(this.#mine);
    this.#priority = wanted;
  }

  turn(signal: AbortSignal): Promise<() => void> {
    if (signal.aborted) return Promise.reject(givenUp());
    if (!this.#starts.isFull) return Promise.resolve(this.#starts.begin());
    return new Promise((resolve, reject) => {
      const giveUp = (): void => {
        this.#leave();
        reject(givenUp());
      };
      this.#mine = {
        grant: () => {
          this.#mine = undefined;
          signal.removeEventListener('abort', giveUp);
          resolve(this.#starts.begin());
        },
      };
      this.#starts.waiting[this.#priority].add(this.#mine);
      signal.addEventListener('abort', giveUp, { once: true });
    });
  }

  #leave(): void {
    if (this.#mine !== undefined) this.#starts.waiting[this.#priority].delete(this.#mine);
    this.#mine = undefined;
  }
}

function givenUp(): HubError {
  return new HubError('CANCELLED', 'The server was not started: nothing waits for it any more.');
}
