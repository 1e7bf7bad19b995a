import type { ChildProcess } from 'node:child_process';
import type { Clock, Logger, Timer } from '../../base/index.ts';
import { endWatchdog, spawnWatchdog, type WatchdogOptions, writeGroup } from './watchdog-process.ts';

/** A process outside the hub's session that ends the registered groups when the hub is gone. */
export interface Watchdog {
  readonly pid: number | undefined;
  start(): void;
  /** Resolves to true once the group would be ended even if the hub died now; false if no watchdog stays alive. */
  register(group: number): Promise<boolean>;
  release(group: number): void;
  close(): Promise<void>;
}

export interface WatchdogDeps {
  readonly clock: Clock;
  readonly logger: Logger;
}

/** A watchdog that dies this young would die again at once. */
const shortLifeMs = 1_000;
const maxAttempts = 3;

export function createWatchdog(deps: WatchdogDeps, options: WatchdogOptions): Watchdog {
  return new SupervisedWatchdog(deps, options);
}

/** Keeps one watchdog process alive while groups are registered, and gives a replacement all of them. */
class SupervisedWatchdog implements Watchdog {
  readonly #deps: WatchdogDeps;
  readonly #options: WatchdogOptions;
  readonly #groups = new Set<number>();
  #current: ChildProcess | undefined;
  #replacement: Timer | undefined;
  #closing: Promise<void> | undefined;

  constructor(deps: WatchdogDeps, options: WatchdogOptions) {
    this.#deps = deps;
    this.#options = options;
  }

  get pid(): number | undefined {
    return this.#current?.pid;
  }

  start(): void {
    this.#ensureRunning();
  }

  async register(group: number): Promise<boolean> {
    this.#groups.add(group);
    for (let attempt = 0; attempt < maxAttempts && this.#closing === undefined; attempt += 1) {
      const dog = this.#ensureRunning();
      if (dog !== undefined && (await writeGroup(dog, group))) return true;
      // The child has ended meanwhile: there is nothing to watch, and another group may get its number.
      if (!this.#groups.has(group)) return true;
      if (this.#current === dog) this.#current = undefined;
    }
    this.#groups.delete(group);
    this.#replaceLater();
    return false;
  }

  release(group: number): void {
    if (this.#groups.delete(group)) this.#current?.stdin?.write(`-${group}\n`);
  }

  close(): Promise<void> {
    this.#closing ??= this.#end();
    return this.#closing;
  }

  #ensureRunning(): ChildProcess | undefined {
    this.#replacement?.cancel();
    this.#replacement = undefined;
    this.#current ??= this.#begin();
    return this.#current;
  }

  #begin(): ChildProcess | undefined {
    const startedAt = this.#deps.clock.monotonic();
    const dog = spawnWatchdog(this.#options);
    if (dog === undefined) {
      this.#replaceLater();
      return undefined;
    }
    const lost = (): void => this.#lost(dog, startedAt);
    dog.on('error', lost);
    dog.on('exit', lost);
    if (this.#groups.size > 0) dog.stdin?.write([...this.#groups].map((group) => `+${group}\n`).join(''));
    return dog;
  }

  #lost(dog: ChildProcess, startedAt: number): void {
    if (this.#current !== dog) return;
    this.#current = undefined;
    if (this.#closing !== undefined || this.#groups.size === 0) return;
    const { clock, logger } = this.#deps;
    logger.warn('watchdog.lost', { pid: dog.pid, groups: this.#groups.size });
    if (clock.monotonic() - startedAt >= shortLifeMs) this.#ensureRunning();
    else this.#replaceLater();
  }

  #replaceLater(): void {
    if (this.#groups.size === 0) return;
    this.#replacement ??= this.#deps.clock.setTimer(shortLifeMs, () => this.#ensureRunning());
  }

  async #end(): Promise<void> {
    this.#replacement?.cancel();
    const dog = this.#current;
    if (dog?.pid !== undefined) await endWatchdog(this.#deps.clock, dog, this.#groups.size === 0);
  }
}
