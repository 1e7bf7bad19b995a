import type { LoadedConfiguration, SourceText } from '../config/index.ts';
import type { AccessRules, Configuration, PolicyRule } from '../domain/index.ts';
import {
  type ApprovedPolicy,
  type ApprovedServer,
  type ApprovedVersions,
  applyTrust,
  type Judgement,
  type TrustItem,
  trustDigest,
  trustItems,
} from '../trust/index.ts';
import { ApprovedLoads, type ApprovedTexts } from './approved-texts.ts';
import type { ConfigurationTrust } from './configuration-trust.ts';
import { pinnedTexts, type Records, recordsOf, type TrustPlace } from './trust-records.ts';
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
  #policy: ApprovedTexts | undefined;
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
    const { place, own, approved, declined, loads } = records;
    const items = trustItems(loaded, place.key);
    const isPinned = digest !== undefined && (await this.#digestOf(items)) === digest;
    this.#forget((hash) => approved.has(hash));
    const undone = await findUndone(items, loaded, records);
    const isApproved = ({ hash }: TrustItem): boolean => isPinned || (approved.has(hash) && !undone.has(hash));
    const waiting = items.filter((item) => !isApproved(item));
    const versions = await this.#versionsOf(waiting, loaded.configuration, records);
    this.#remember(loaded, items.filter(isApproved), isPinned);
    const judged = applyTrust(loaded.configuration, items, {
      versions: { ...versions, isApproved, isDeclined: ({ hash }) => declined.has(hash) },
      trustsPlans: false,
    });
    return {
      ...judged,
      configuration: withSecrets(judged.configuration, loads.all()),
      ...(own.replaced === true ? { replaced: true } : {}),
    };
  }

  async approvedBefore(): Promise<{ readonly loaded: LoadedConfiguration; readonly at: number } | undefined> {
    const { place, own, loads, pinOf } = await this.#records();
    // A worktree has files of its own, and may lack those that git ignores.
    const pin = pinOf(undefined);
    if (pin === undefined || pin !== own.policy) return undefined;
    const texts = await loads.pinned(place.store, pin);
    if (texts === undefined) return undefined;
    return { loaded: await loads.load(texts), at: own.approved.find(({ hash }) => hash === pin.hash)?.at ?? 0 };
  }

  async #records(): Promise<Records> {
    const { digest, loadTexts } = this.#deps;
    const place = await this.#deps.place();
    const [own, main] = await Promise.all([place.store.load(), place.main?.load()]);
    return recordsOf({ place, own, main, loads: new ApprovedLoads(loadTexts) }, digest !== undefined);
  }

  /** Slow where files supply values, so it is made once for the same items. */
  #digestOf(items: readonly TrustItem[]): Promise<string> {
    const of = items.map(({ hash }) => hash).join();
    if (this.#digest?.of !== of) this.#digest = { of, text: trustDigest(items) };
    return this.#digest.text;
  }

  settle(): void {
    // Only an approval makes a change take effect.
  }

  /** So that a change does not bring back whatever version happened to be approved last. */
  #remember({ configuration, sources }: LoadedConfiguration, approved: readonly TrustItem[], isPinned: boolean): void {
    const texts = new Map([...sources].map(([file, { source }]) => [file, source]));
    for (const item of approved) {
      if (item.kind === 'policy') this.#policy = { texts, files: [] };
      else this.#servers.set(item.name, { texts, files: item.plan.files, hash: item.hash, isPinned });
    }
    for (const name of this.#servers.keys()) if (!configuration.servers.has(name)) this.#servers.delete(name);
  }

  /** An approval that was taken back keeps nothing in force. */
  #forget(isStillApproved: (hash: string) => boolean): void {
    for (const [name, { hash, isPinned }] of this.#servers) {
      if (!isPinned && !isStillApproved(hash)) this.#servers.delete(name);
    }
  }

  async #versionsOf(
    waiting: readonly TrustItem[],
    settings: Configuration,
    records: Records,
  ): Promise<Pick<ApprovedVersions, 'server' | 'policy'>> {
    const { loads, place, pinOf } = records;
    const servers = new Map<string, ApprovedServer>();
    let policy: ApprovedPolicy | undefined;
    for (const item of waiting) {
      if (item.kind === 'policy') {
        policy = await this.#approvedPolicy(settings, records);
        continue;
      }
      const { name } = item;
      const from = this.#servers.get(name) ?? (await pinnedTexts(pinOf(name), records));
      if (from === undefined) continue;
      const before = trustItems(await loads.load(from), place.key).find((each) => isServer(each, name));
      if (before?.kind !== 'server') continue;
      const { files } = from;
      servers.set(name, { item: { ...before, plan: { ...before.plan, files } }, files });
    }
    return { server: (name) => servers.get(name), policy };
  }

  async #approvedPolicy(settings: Configuration, records: Records): Promise<ApprovedPolicy | undefined> {
    const { loads, place, pinOf } = records;
    const pin = pinOf(undefined);
    if (this.#policy === undefined && pin === undefined) return undefined;
    const from = this.#policy ?? (await pinnedTexts(pin, records));
    // The approved rules are lost. Whatever they denied stays denied until the rules on disk are approved.
    if (from === undefined)
      return { item: undefined, rules: denyAll(place.store.place), settings: { ...settings, allowPaths: [] } };
    const loaded = await loads.load(from);
    const item = trustItems(loaded, place.key).find((each) => each.kind === 'policy');
    return { item, rules: loaded.configuration, settings: loaded.configuration };
  }
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
