import type { LoadedConfiguration, SourceText } from '../config/index.ts';
import type { AccessRules, Configuration, PolicyRule } from '../domain/index.ts';
import {
  type ApprovedPolicy,
  type ApprovedServer,
  type ApprovedVersions,
  applyTrust,
  type ItemRef,
  type Judgement,
  type TrustItem,
  trustDigest,
  trustItems,
} from '../trust/index.ts';
import { ApprovedLoads, type ApprovedTexts } from './approved-texts.ts';
import type { ConfigurationTrust } from './configuration-trust.ts';
import { pinnedTexts, type Records, readRecords, recordsOf, type TrustPlace } from './trust-records.ts';
import { findUndone } from './undone-items.ts';

export interface StoredTrustDeps {
  /** Another place once the first approval has made a key. */
  place(): Promise<TrustPlace>;
  /** A digest that the operator pinned: what has it is approved. */
  readonly digest: string | undefined;
  /** Loads a configuration from these texts and nothing else. */
  loadTexts(texts: ReadonlyMap<string, SourceText>): Promise<LoadedConfiguration>;
}

/** Trusts what the operator approved. Everything else waits, and the version that was approved before stays in force. */
export class StoredTrust implements ConfigurationTrust {
  readonly asks = true;
  readonly #deps: StoredTrustDeps;
  /** The approved versions that took effect last in this process, by server. */
  readonly #servers = new Map<string, RememberedVersion>();
  #policy: RememberedVersion | undefined;
  /** Approvals that were taken back in this process, although the record could not be written: until when they were given. */
  readonly #withheld = new Map<string, number>();
  #withheldAll = -1;
  #digest: { readonly of: string; readonly text: Promise<string> } | undefined;

  constructor(deps: StoredTrustDeps) {
    this.#deps = deps;
  }

  async itemsOf(loaded: LoadedConfiguration): Promise<readonly TrustItem[]> {
    return trustItems(loaded, (await this.#deps.place()).key);
  }

  async judge(loaded: LoadedConfiguration): Promise<Judgement> {
    const { digest } = this.#deps;
    const records = await this.#records();
    const { place, own, declined, loads } = records;
    const items = trustItems(loaded, place.key);
    const isPinned = digest !== undefined && (await this.#digestOf(items)) === digest;
    this.#forget(records);
    const undone = await findUndone(items, loaded, records);
    const isApproved = (item: TrustItem): boolean =>
      isPinned || (!undone.has(item.hash) && counts(records, item, item.hash));
    const waiting = items.filter((item) => !isApproved(item));
    const versions = await this.#versionsOf(waiting, records);
    this.#remember(loaded, items.filter(isApproved), isPinned);
    const judged = applyTrust(loaded.configuration, items, {
      versions: { ...versions, isApproved, isDeclined: ({ hash }) => declined.has(hash) },
      trustsPlans: false,
    });
    return {
      ...judged,
      configuration: withSecrets(judged.configuration, loads.all()),
      removed: removedServers(loaded.configuration, records),
      ...(own.replaced === true ? { replaced: true } : {}),
    };
  }

  async approvedBefore(): Promise<{ readonly loaded: LoadedConfiguration; readonly at: number } | undefined> {
    const records = await this.#records();
    const { place, own, loads } = records;
    const [newest] = records.counting({ kind: 'policy' });
    // A worktree has files of its own, and may lack those that git ignores.
    if (newest?.pin === undefined || !own.approvals.includes(newest)) return undefined;
    const texts = await loads.pinned(place.store, newest.pin);
    return texts === undefined ? undefined : { loaded: await loads.load(texts), at: newest.at };
  }

  async #records(): Promise<Records> {
    const { digest, loadTexts } = this.#deps;
    const place = await this.#deps.place();
    const loads = new ApprovedLoads(loadTexts);
    const records = recordsOf(await readRecords(place), { place, loads, hasDigest: digest !== undefined });
    const until = (item: ItemRef): number =>
      item.kind === 'policy' ? -1 : Math.max(this.#withheldAll, this.#withheld.get(item.name) ?? -1);
    return { ...records, counting: (item) => records.counting(item).filter(({ at }) => at > until(item)) };
  }

  /** Slow where files supply values, so it is made once for the same items. */
  #digestOf(items: readonly TrustItem[]): Promise<string> {
    const of = items.map(({ hash }) => hash).join();
    if (this.#digest?.of !== of) this.#digest = { of, text: trustDigest(items) };
    return this.#digest.text;
  }

  withhold(servers: readonly string[] | undefined, at: number): void {
    if (servers === undefined) this.#withheldAll = at;
    for (const name of servers ?? []) this.#withheld.set(name, at);
  }

  settle(): void {
    // Only an approval makes a change take effect.
  }

  /** So that a change does not bring back whatever version happened to be approved last. */
  #remember({ configuration, sources }: LoadedConfiguration, approved: readonly TrustItem[], isPinned: boolean): void {
    const texts = new Map([...sources].map(([file, { source }]) => [file, source]));
    for (const item of approved) {
      const files = item.kind === 'server' ? item.plan.files : [];
      const version = { texts, files, hash: item.hash, isPinned };
      if (item.kind === 'policy') this.#policy = version;
      else this.#servers.set(item.name, version);
    }
    for (const name of this.#servers.keys()) if (!configuration.servers.has(name)) this.#servers.delete(name);
  }

  /** A version that was replaced or taken back keeps nothing in force. */
  #forget(records: Records): void {
    const isOver = (item: ItemRef, { hash, isPinned }: RememberedVersion): boolean =>
      !isPinned && !counts(records, item, hash);
    for (const [name, version] of this.#servers) {
      if (isOver({ kind: 'server', name }, version)) this.#servers.delete(name);
    }
    if (this.#policy !== undefined && isOver({ kind: 'policy' }, this.#policy)) this.#policy = undefined;
  }

  async #versionsOf(
    waiting: readonly TrustItem[],
    records: Records,
  ): Promise<Pick<ApprovedVersions, 'server' | 'policy'>> {
    const { loads, place } = records;
    const servers = new Map<string, ApprovedServer>();
    for (const item of waiting) {
      if (item.kind === 'policy') continue;
      const { name } = item;
      const from = this.#servers.get(name) ?? (await pinnedTexts(records.counting(item), records));
      if (from === undefined) continue;
      const before = trustItems(await loads.load(from), place.key).find((each) => isServer(each, name));
      if (before?.kind !== 'server') continue;
      const { files } = from;
      servers.set(name, { item: { ...before, plan: { ...before.plan, files } }, files });
    }
    return { server: (name) => servers.get(name), policy: await this.#approvedPolicy(records) };
  }

  async #approvedPolicy(records: Records): Promise<ApprovedPolicy> {
    const { loads, place, hasApprovals } = records;
    const from = this.#policy ?? (await pinnedTexts(records.counting({ kind: 'policy' }), records));
    const loaded = from === undefined ? await loads.nothing() : await loads.load(from);
    const { configuration } = loaded;
    const item = trustItems(loaded, place.key).find((each) => each.kind === 'policy');
    if (from !== undefined) return { state: 'approved', item, rules: configuration, settings: configuration };
    if (!hasApprovals) return { state: 'none', item, rules: configuration, settings: configuration };
    // Whatever the approved rules denied stays denied until the rules on disk are approved.
    return { state: 'lost', item: undefined, rules: denyAll(place.store.place), settings: configuration };
  }
}

/** Whether this version of an item is one that counts. */
function counts(records: Records, item: ItemRef, version: string): boolean {
  return records.counting(item).some(({ hash }) => hash === version);
}

/** Their text brings them back, until the operator approves that they are gone. */
function removedServers({ servers }: Configuration, records: Records): readonly string[] {
  const { own, branch } = records;
  return own.approvals.flatMap((each) => {
    const isHere = each.kind === 'server' && each.branch === branch && !servers.has(each.name);
    return isHere && records.counting(each).length > 0 ? [each.name] : [];
  });
}

interface RememberedVersion extends ApprovedTexts {
  readonly hash: string;
  /** It was approved by the digest of everything, which nobody can take back. */
  readonly isPinned: boolean;
}

function isServer(item: TrustItem, name: string): boolean {
  return item.kind === 'server' && item.name === name;
}

function denyAll(file: string): AccessRules {
  const source = { file };
  const rule: PolicyRule = { pattern: '*', effect: 'deny', source };
  return { agents: new Map(), roles: new Map(), policy: { source, rules: [rule] } };
}

/** A version that stays in force has secrets of its own. */
function withSecrets(configuration: Configuration, others: Iterable<LoadedConfiguration>): Configuration {
  const all = [configuration, ...[...others].map((each) => each.configuration)];
  return {
    ...configuration,
    secrets: [...new Set(all.flatMap(({ secrets }) => secrets))],
    shortSecrets: [...new Set(all.flatMap(({ shortSecrets }) => shortSecrets))],
  };
}
