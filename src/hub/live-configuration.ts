import { type Clock, type Logger, type Timer, toHubError } from '../base/index.ts';
import type { ConfigWatch, LoadedConfiguration, SourceText } from '../config/index.ts';
import type { Fleet, Problem } from '../domain/index.ts';
import { findWidenings } from '../governance/index.ts';
import { mistakesIn, refuse } from './config-mistakes.ts';
import { type ConfigNotices, type ConfigState, createConfigNotices, named } from './config-notices.ts';
import type { Configuration } from './configuration.ts';
import { changedFile, datesOf, findHeld, fingerprintOf, type HeldFile, withHeld, withOnly } from './held-files.ts';

export type Load = (instead?: ReadonlyMap<string, SourceText>) => Promise<LoadedConfiguration>;

export interface LiveConfigurationDeps {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly load: Load;
  readonly watch: ConfigWatch | undefined;
}

/** How long the files must stay as they are before lost restrictions count as meant. */
const settleMs = 3_000;

/**
 * Follows the files without ever widening rights by accident. A file that is missing, empty, unreadable or broken leaves
 * its last good text in force. A change that could let anybody do more waits until nothing has changed for a while: a
 * file that is being written looks like one that lost its end.
 */
export class LiveConfiguration implements Configuration {
  readonly #deps: LiveConfigurationDeps;
  readonly #listeners = new Set<(fleet: Fleet) => void>();
  readonly #notices: ConfigNotices;
  #inForce: LoadedConfiguration;
  #dates: ReadonlyMap<string, number>;
  /** The last one that stood unchanged for a while: what a file lost a moment ago is still known here. */
  #settled: Fleet;
  /** Of all files, as they were last seen. */
  #seen: string;
  #timer: Timer | undefined;
  #closed = false;
  #last: Promise<void> = Promise.resolve();

  constructor(deps: LiveConfigurationDeps, first: LoadedConfiguration) {
    this.#deps = deps;
    this.#notices = createConfigNotices(deps);
    this.#inForce = first;
    this.#settled = first.fleet;
    this.#seen = fingerprintOf(first.sources);
    this.#dates = datesOf(new Map(), [new Map(), first.sources], deps.clock.now());
  }

  get fleet(): Fleet {
    return this.#inForce.fleet;
  }

  /** Files that others name, which are watched like those. */
  get namedFiles(): readonly string[] {
    return [...this.#inForce.sources].flatMap(([file, { named }]) => (named ? [file] : []));
  }

  notices(): readonly Problem[] {
    return this.#notices.list();
  }

  onReload(listener: (fleet: Fleet) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  close(): void {
    this.#closed = true;
    this.#timer?.cancel();
    this.#deps.watch?.close();
  }

  reload(files?: readonly string[]): Promise<void> {
    return this.#enqueue(() => this.#takeUp(files));
  }

  /** Something has changed on disk. */
  follow(): void {
    this.#passQuietly(false);
  }

  /** One after the other: of two changes the later one must win. */
  #enqueue(work: () => Promise<void>): Promise<void> {
    this.#last = this.#last.then(work, work);
    return this.#last;
  }

  #passQuietly(isSettled: boolean): void {
    this.#enqueue(() => this.#pass(isSettled)).catch((error: unknown) => {
      this.#deps.logger.error('reload_refused', { error: toHubError(error).message });
    });
  }

  async #takeUp(files: readonly string[] | undefined): Promise<void> {
    const { load, logger } = this.#deps;
    const disk = await load();
    const next = files === undefined ? disk : await load(withOnly(this.#inForce.sources, disk.sources, files));
    try {
      refuse(mistakesIn(next.fleet));
    } catch (error) {
      logger.error('reload_refused', { error: toHubError(error).message });
      throw error;
    }
    if (this.#closed) return;
    this.#seen = fingerprintOf(disk.sources);
    this.#adopt(next, []);
    if (files === undefined) {
      this.#settled = next.fleet;
      this.#report({ held: [], waiting: [], refused: [] }, disk);
    } else if (this.#deps.watch !== undefined) {
      // The other files may have changed too, or be missing.
      this.follow();
    }
  }

  /** `isSettled`: nobody has reported a change for a while, so what is still the same is meant. */
  async #pass(isSettled: boolean): Promise<void> {
    const disk = await this.#deps.load();
    if (this.#closed) return;
    const seen = fingerprintOf(disk.sources);
    const isMeant = isSettled && seen === this.#seen;
    this.#seen = seen;
    this.#settleLater(isMeant);
    const { next, held } = await this.#choose(disk, isMeant);
    if (this.#closed) return;
    const isNew = fingerprintOf(next.sources) !== fingerprintOf(this.#inForce.sources);
    const refused = isNew ? mistakesIn(next.fleet) : [];
    const lost = isNew && refused.length === 0 ? this.#lostBy(next.fleet) : [];
    const waits = lost.length > 0 && !isMeant;
    this.#report({ held, refused, waiting: waits ? lost : [] }, disk);
    if (isNew && refused.length === 0 && !waits) this.#adopt(next, lost);
    if (isMeant) this.#settled = this.#inForce.fleet;
  }

  #report(state: Pick<ConfigState, 'held' | 'waiting' | 'refused'>, disk: LoadedConfiguration): void {
    const dates = this.#dates;
    const since = (file?: string): number =>
      (file === undefined ? undefined : dates.get(file)) ?? Math.max(...dates.values());
    this.#notices.report({ ...state, since, changed: changedFile(this.#inForce.sources, disk.sources) });
  }

  /** What is on disk, with the last good text in place of what cannot be used. */
  async #choose(
    disk: LoadedConfiguration,
    isMeant: boolean,
  ): Promise<{ readonly next: LoadedConfiguration; readonly held: readonly HeldFile[] }> {
    const { load } = this.#deps;
    const { sources } = this.#inForce;
    const held = findHeld(sources, disk.sources);
    if (held.length === 0) return { next: disk, held };
    const kept = held.filter(({ dispensable }) => !dispensable);
    if (isMeant && kept.length < held.length) {
      const without = await load(withHeld(sources, disk.sources, kept));
      if (mistakesIn(without.fleet).length === 0 && this.#lostBy(without.fleet).length === 0) {
        return { next: without, held: kept };
      }
    }
    return { next: await load(withHeld(sources, disk.sources, held)), held };
  }

  #lostBy(next: Fleet): readonly string[] {
    const lost = [...findWidenings(this.#inForce.fleet, next), ...findWidenings(this.#settled, next)];
    return [...new Set(lost)];
  }

  #settleLater(isMeant: boolean): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    if (isMeant) return;
    this.#timer = this.#deps.clock.setTimer(settleMs, () => this.#passQuietly(true));
  }

  #adopt(next: LoadedConfiguration, lost: readonly string[]): void {
    const { clock, logger, watch } = this.#deps;
    this.#dates = datesOf(this.#dates, [this.#inForce.sources, next.sources], clock.now());
    this.#inForce = next;
    watch?.refresh();
    for (const listener of this.#listeners) listener(next.fleet);
    const fields = { servers: next.fleet.servers.size, problems: next.fleet.problems.length + this.notices().length };
    if (lost.length === 0) logger.info('reloaded', fields);
    else logger.warn('reloaded', { ...fields, lost: named(lost), lost_count: lost.length });
  }
}
