import { createHmac } from 'node:crypto';
import { isAbsolute } from 'node:path';
import type { Clock, Logger, RandomBytes } from '../base/index.ts';
import { type LoadedConfiguration, loadWithSources } from '../config/index.ts';
import { ensureStateFolder, ensureTrustKey, workspaceLayout } from '../storage/index.ts';
import {
  type Approval,
  type ApprovalContext,
  approve,
  decline,
  type ItemRef,
  identityOf,
  type NewSnapshot,
  revoke,
  revokeEarlier,
  type Snapshot,
  type TrustItem,
  type TrustSource,
  trustItems,
  withdraw,
} from '../trust/index.ts';
import { openTrustPlace } from './open-trust.ts';
import { readRecords, type StoredRecords } from './trust-records.ts';

/** Changes what is trusted, on the branch of git that the workspace is on. A running hub notices it. */
export interface TrustChanges {
  /** With the hashes under which they are approved. */
  itemsOf(loaded: LoadedConfiguration): readonly TrustItem[];
  /** Approves these items of the loaded configuration, and nothing that came after it was loaded. */
  approve(loaded: LoadedConfiguration, items: readonly TrustItem[], how: TrustSource): Promise<void>;
  /** The same after a command removed a server: no version of a server that is not configured stays approved on this branch. */
  approveRemoval(loaded: LoadedConfiguration, items: readonly TrustItem[]): Promise<void>;
  /** With an approved version on any branch. */
  approvedServers(): Promise<readonly string[]>;
  decline(loaded: LoadedConfiguration, items: readonly TrustItem[], how: TrustSource): Promise<void>;
  /** Undefined: all servers. */
  revoke(servers: readonly string[] | undefined): Promise<void>;
  /** No version of these servers is approved on this branch any more. */
  withdraw(servers: readonly string[]): Promise<void>;
  /** Of these items, only the version that counts on this branch stays approved, there and on all others. */
  revokeEarlier(which: EarlierItems): Promise<void>;
}

/** `servers` undefined: all. */
export interface EarlierItems {
  readonly servers: readonly string[] | undefined;
  readonly rules: boolean;
}

export interface TrustChangesDeps {
  readonly clock: Clock;
  readonly random: RandomBytes;
  readonly logger: Logger;
}

export async function openTrustChanges(
  deps: TrustChangesDeps,
  { workspace, stateHome }: { readonly workspace: string; readonly stateHome: string },
): Promise<TrustChanges> {
  const { clock, random, logger } = deps;
  const layout = workspaceLayout(workspace, stateHome);
  await ensureStateFolder(layout, { clock, random, logger });
  const key = await ensureTrustKey(layout, random);
  const place = await openTrustPlace(deps, layout, key);
  const { store } = place;
  /** They may have been read before there was a key. */
  const keyed = (loaded: LoadedConfiguration, items: readonly TrustItem[]): readonly TrustItem[] => {
    const names = new Set(items.map(identityOf));
    return trustItems(loaded, key).filter((item) => names.has(identityOf(item)));
  };
  const begin = async (how: TrustSource): Promise<Begun> => {
    const records = await readRecords(place);
    return { records, act: { branch: records.branch, at: clock.now(), how }, inMain: records.main?.approvals ?? [] };
  };
  const approveAs = async (
    { how, isRemoval }: { readonly how: TrustSource; readonly isRemoval: boolean },
    loaded: LoadedConfiguration,
    chosen: readonly TrustItem[],
  ): Promise<void> => {
    const { records, act, inMain } = await begin(how);
    const snapshot = snapshotOf(textsOf(loaded), key);
    const all = trustItems(loaded, key);
    // A person answers for each item that is shown. Rules that say nothing are not shown.
    const coversRules = how !== 'terminal' || (await saysNothing(all, workspace, key));
    const names = new Set(loaded.configuration.servers.keys());
    const items = keyed(loaded, chosen);
    const order = { ...act, items, all, coversRules, names, isRemoval, snapshot: snapshot.id, inMain };
    const main = records.mainPath;
    await store.update((record) => approve({ ...record, main }, order), [...(await copies(records)), snapshot]);
  };
  return {
    itemsOf: (loaded) => trustItems(loaded, key),
    approve: (loaded, items, how) => approveAs({ how, isRemoval: false }, loaded, items),
    approveRemoval: (loaded, items) => approveAs({ how: 'command', isRemoval: true }, loaded, items),
    async decline(loaded, items, how) {
      await store.update((record) => decline(record, { items: keyed(loaded, items), at: clock.now(), how }));
    },
    async withdraw(servers) {
      const { act } = await begin('command');
      await store.update((record) => withdraw(record, servers, act));
    },
    async revoke(servers) {
      const { act, inMain } = await begin('command');
      const isMeant = (item: ItemRef): boolean => item.kind === 'server' && (servers?.includes(item.name) ?? true);
      await store.update((record) => revoke(record, { ...act, inMain, isMeant }));
    },
    async revokeEarlier({ servers, rules }) {
      const { records, act, inMain } = await begin('command');
      const isMeant = (item: ItemRef): boolean =>
        item.kind === 'policy' ? rules : (servers?.includes(item.name) ?? true);
      await store.update((record) => revokeEarlier(record, { ...act, inMain, isMeant }), await copies(records));
    },
    approvedServers: async () => approvedNames(await readRecords(place)),
  };
}

/** The start of an act of the operator. */
interface Begun {
  readonly records: StoredRecords;
  readonly act: ApprovalContext;
  /** Approvals of the main checkout. */
  readonly inMain: readonly Approval[];
}

function approvedNames({ own, main }: StoredRecords): readonly string[] {
  const all = [...own.approvals, ...(main?.approvals ?? [])];
  return all.flatMap(({ kind, hash, name }) => (kind === 'server' && hash !== undefined ? [name] : []));
}

/** A version that the main checkout approved and that is kept here must not be lost with the main checkout. */
async function copies({ main, mainStore }: StoredRecords): Promise<readonly NewSnapshot[]> {
  const ids = new Set(main?.approvals.flatMap(({ pin }) => (pin === undefined ? [] : [pin.snapshot])));
  const all = await Promise.all([...ids].map(async (id) => ({ id, texts: await mainStore?.snapshot(id) })));
  return all.flatMap(({ id, texts }) => (texts === undefined ? [] : [{ id, texts }]));
}

/** Whether the rules on disk are those of a workspace without files. */
async function saysNothing(items: readonly TrustItem[], workspace: string, key: Uint8Array): Promise<boolean> {
  const nothing = await loadWithSources({ env: {} }, { workspace, instead: new Map(), only: true });
  const hashes = new Set(trustItems(nothing, key).map(({ hash }) => hash));
  return items.every(({ kind, hash }) => kind === 'server' || hashes.has(hash));
}

/** The same texts have the same name, so that branches share them. */
function snapshotOf(texts: Snapshot, key: Uint8Array): NewSnapshot {
  const sorted = [...texts].sort(([one], [other]) => (one < other ? -1 : 1));
  const digest = createHmac('sha256', key).update('snapshot').update(JSON.stringify(sorted)).digest('hex');
  return { id: digest.slice(0, 16), texts };
}

/** Values of the secret store are not part of what is approved. */
function textsOf({ sources }: LoadedConfiguration): Snapshot {
  return new Map(
    [...sources].flatMap(([file, { source }]): [string, string][] =>
      source.kind === 'text' && !isAbsolute(file) ? [[file, source.text]] : [],
    ),
  );
}
