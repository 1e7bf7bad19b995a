import { type Clock, type Logger, type Timer, toHubError } from '../../base/index.ts';
import type { ConfigWatch, LoadedConfiguration } from '../../config/index.ts';
import type { Configuration, Problem } from '../../domain/index.ts';
import type { Judgement, PendingItem } from '../../trust/index.ts';
import {
  type ConfigurationTrust,
  findRetained,
  type RetainedFile,
  type StartingFiles,
  type TrustedFiles,
  withRetained,
} from '../../workspace-trust/index.ts';
import type { EmitEvent } from '../events/event-emitter.ts';
import { mistakesIn, refuseConfiguration } from './config-mistakes.ts';
import { type ConfigNotices, type ConfigState, createConfigNotices } from './config-notices.ts';
import type { ConfigurationSource } from './configuration-source.ts';
import { changedFile, datesOf, fingerprintOf, withOnly } from './retained-files.ts';
import { isSameEffect } from './same-effect.ts';

export interface LiveConfigurationDeps {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly emit: EmitEvent;
  readonly load: TrustedFiles['load'];
  readonly trust: ConfigurationTrust;
  readonly watch: ConfigWatch | undefined;
}

/** What the hub starts with. */
export interface FirstLoad {
  readonly disk: LoadedConfiguration;
  readonly files: StartingFiles;
  readonly judged: Judgement;
}

/** How long the files must stay unchanged before they count as meant. */
const settleMs = 3_000;
/** Timers may fire this much before their time. */
const earlyMs = 50;

/**
 * Follows the files without widening rights by accident. A file that is missing, empty, unreadable or broken keeps its last
 * good text in force. What the files ask for takes effect as far as it is trusted.
 */
export class LiveConfiguration implements ConfigurationSource {
  readonly #deps: LiveConfigurationDeps;
  readonly #listeners = new Set<(configuration: Configuration) => void>();
  readonly #notices: ConfigNotices;
  /** The files in force. */
  #loaded: LoadedConfiguration;
  /** The last ones that were quiet, or that the operator meant. */
  #settled: LoadedConfiguration;
  /** What of them takes effect. */
  #judged: Judgement;
  #dates: ReadonlyMap<string, number>;
  /** The last seen state of all files, and since when they are like this, on the monotonic clock. */
  #seen: string;
  #seenAt: number;
  #timer: Timer | undefined;
  #closed = false;
  #last: Promise<void> = Promise.resolve();

  constructor(deps: LiveConfigurationDeps, { disk, files, judged }: FirstLoad) {
    this.#deps = deps;
    this.#notices = createConfigNotices(deps, { asks: deps.trust.asks });
    this.#loaded = files.loaded;
    this.#settled = files.loaded;
    this.#judged = judged;
    this.#seen = fingerprintOf(disk.sources);
    this.#seenAt = deps.clock.monotonic();
    const dates = datesOf(new Map(), [new Map(), files.loaded.sources], deps.clock.now());
    this.#dates = new Map([...dates, ...files.retained.map(({ file }): [string, number] => [file, files.at])]);
    this.#report({ retained: files.retained, refused: [] }, disk);
  }

  get configuration(): Configuration {
    return this.#judged.configuration;
  }

  get pending(): readonly PendingItem[] {
    return this.#judged.pending;
  }

  /** Files that other files refer to, which are watched too. */
  get namedFiles(): readonly string[] {
    const { sources, plans } = this.#loaded;
    const named = [...sources].flatMap(([file, source]) => (source.named ? [file] : []));
    return [...named, ...[...plans.values()].flatMap(({ files }) => files.map(({ path }) => path))];
  }

  notices(): readonly Problem[] {
    return this.#notices.list();
  }

  onReload(listener: (configuration: Configuration) => void): () => void {
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

  withhold(servers: readonly string[] | undefined): Promise<void> {
    const { trust, clock } = this.#deps;
    trust.withhold(servers, clock.now());
    return this.#enqueue(async () => {
      const judged = await trust.judge(this.#loaded);
      if (!this.#closed) this.#adopt(this.#loaded, judged);
    });
  }

  /** A file changed on disk. */
  follow(): void {
    this.#passQuietly(false);
  }

  /** In sequence, because the later of two changes must win. */
  #enqueue(work: () => Promise<void>): Promise<void> {
    this.#last = this.#last.then(work, work);
    return this.#last;
  }

  #passQuietly(isSettled: boolean): void {
    this.#enqueue(() => this.#pass(isSettled)).catch((error: unknown) => {
      this.#refuse(error);
    });
  }

  #refuse(error: unknown): void {
    const { message } = toHubError(error);
    this.#deps.logger.error('config.refused', { error: message });
    this.#deps.emit({ type: 'config.refused', message });
  }

  async #takeUp(files: readonly string[] | undefined): Promise<void> {
    const { load, trust } = this.#deps;
    const disk = await load();
    const next = files === undefined ? disk : await load(withOnly(this.#loaded.sources, disk.sources, files));
    try {
      refuseConfiguration(mistakesIn(next.configuration));
    } catch (error) {
      this.#refuse(error);
      throw error;
    }
    // The operator says that these files are as meant. Another one may be half written at this moment.
    this.#settle(files === undefined ? disk : await load(withOnly(this.#settled.sources, disk.sources, files)));
    const judged = await trust.judge(next);
    if (this.#closed) return;
    this.#quietFor(disk);
    this.#adopt(next, judged);
    if (files === undefined) this.#report({ retained: [], refused: [] }, disk);
    // The other files may have changed too, or be missing.
    else if (this.#deps.watch !== undefined) this.follow();
  }

  /** `isSettled`: the files were quiet for a while, so they are as meant. */
  async #pass(isSettled: boolean): Promise<void> {
    const { load, trust } = this.#deps;
    const disk = await load();
    if (this.#closed) return;
    // The timer of an earlier change may have fired while a later one was being read, so the time counts as well.
    const quietMs = this.#quietFor(disk);
    const isMeant = isSettled && quietMs >= settleMs - earlyMs;
    this.#settleLater(isMeant);
    const { next, retained } = await this.#choose(disk, isMeant);
    const isNew = fingerprintOf(next.sources) !== fingerprintOf(this.#loaded.sources);
    const refused = isNew ? mistakesIn(next.configuration) : [];
    if (refused.length === 0) {
      if (isMeant) this.#settle(next);
      const judged = await trust.judge(next);
      if (this.#closed) return;
      if (isNew || !isSameEffect(judged, this.#judged)) this.#adopt(next, judged);
    }
    if (!this.#closed) this.#report({ retained, refused }, disk);
  }

  #settle(loaded: LoadedConfiguration): void {
    this.#settled = loaded;
    this.#deps.trust.settle(loaded);
  }

  /** For how many milliseconds the files have been as they are now. */
  #quietFor(disk: LoadedConfiguration): number {
    const now = this.#deps.clock.monotonic();
    const seen = fingerprintOf(disk.sources);
    if (seen !== this.#seen) this.#seenAt = now;
    this.#seen = seen;
    return now - this.#seenAt;
  }

  #report(state: Pick<ConfigState, 'retained' | 'refused'>, disk: LoadedConfiguration): void {
    const dates = this.#dates;
    const since = (file?: string): number =>
      (file === undefined ? undefined : dates.get(file)) ?? Math.max(...dates.values());
    const changed = changedFile(this.#loaded.sources, disk.sources);
    this.#notices.report({ ...state, pending: this.pending, since, changed });
  }

  /** The files on disk, with the last good text of unusable ones. */
  async #choose(
    disk: LoadedConfiguration,
    isMeant: boolean,
  ): Promise<{ readonly next: LoadedConfiguration; readonly retained: readonly RetainedFile[] }> {
    const { load } = this.#deps;
    const { sources } = this.#loaded;
    const retained = findRetained(sources, disk.sources);
    if (retained.length === 0) return { next: disk, retained };
    const kept = retained.filter(({ dispensable }) => !dispensable);
    if (isMeant && kept.length < retained.length) {
      const without = await load(withRetained(sources, disk.sources, kept));
      if (mistakesIn(without.configuration).length === 0 && (await this.#onlyRemoves(without))) {
        return { next: without, retained: kept };
      }
    }
    return { next: await load(withRetained(sources, disk.sources, retained)), retained };
  }

  /** Whether every server that is left, and the policy, are as they were. */
  async #onlyRemoves(next: LoadedConfiguration): Promise<boolean> {
    const { trust } = this.#deps;
    const hashes = new Set((await trust.itemsOf(this.#loaded)).map(({ hash }) => hash));
    return (await trust.itemsOf(next)).every(({ hash }) => hashes.has(hash));
  }

  #settleLater(isMeant: boolean): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    if (isMeant) return;
    this.#timer = this.#deps.clock.setTimer(settleMs, () => this.#passQuietly(true));
  }

  #adopt(next: LoadedConfiguration, judged: Judgement): void {
    const { clock, logger, emit, watch } = this.#deps;
    this.#dates = datesOf(this.#dates, [this.#loaded.sources, next.sources], clock.now());
    this.#loaded = next;
    this.#judged = judged;
    watch?.refresh();
    for (const listener of this.#listeners) listener(judged.configuration);
    const fields = {
      servers: judged.configuration.servers.size,
      problems: judged.configuration.problems.length + this.notices().length,
    };
    logger.info('config.applied', fields);
    emit({ type: 'config.applied', ...fields });
  }
}
