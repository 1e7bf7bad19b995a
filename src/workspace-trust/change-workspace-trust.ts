import { isAbsolute } from 'node:path';
import { type Clock, createId, type Logger, type RandomBytes } from '../base/index.ts';
import type { LoadedConfiguration } from '../config/index.ts';
import { ensureStateFolder, ensureTrustKey, workspaceLayout } from '../storage/index.ts';
import {
  approve,
  decline,
  revoke,
  revokePolicies,
  type TrustItem,
  type TrustSource,
  trustItems,
} from '../trust/index.ts';
import { findMainCheckout } from './main-checkout.ts';
import { openTrustStore } from './open-trust.ts';

/** Changes what is trusted. A running hub notices it. */
export interface TrustChanges {
  /** With the hashes under which they are approved. */
  itemsOf(loaded: LoadedConfiguration): readonly TrustItem[];
  /** Approves these items of the loaded configuration, and nothing that came after it was loaded. */
  approve(loaded: LoadedConfiguration, items: readonly TrustItem[], how: TrustSource): Promise<void>;
  decline(loaded: LoadedConfiguration, items: readonly TrustItem[], how: TrustSource): Promise<void>;
  /** Undefined: all servers. */
  revoke(servers: readonly string[] | undefined): Promise<void>;
  /** Rules that were approved before the last ones need approval again. */
  revokeEarlierRules(): Promise<void>;
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
  const store = openTrustStore(deps, layout, key);
  const main = await findMainCheckout(layout.workspace);
  const mainStore = main === undefined ? undefined : openTrustStore(deps, workspaceLayout(main, layout.home), key);
  /** They may have been read before there was a key. */
  const keyed = (loaded: LoadedConfiguration, items: readonly TrustItem[]): readonly TrustItem[] => {
    const names = new Set(items.map(identityOf));
    return trustItems(loaded, key).filter((item) => names.has(identityOf(item)));
  };
  return {
    itemsOf: (loaded) => trustItems(loaded, key),
    async approve(loaded, items, how) {
      const snapshot = { id: createId(random, 16), texts: textsOf(loaded) };
      const order = {
        items: keyed(loaded, items),
        all: trustItems(loaded, key),
        // A worktree's rules are compared with those of the main checkout.
        isFirst: (await mainStore?.load())?.policy === undefined,
        names: new Set(loaded.configuration.servers.keys()),
        snapshot: snapshot.id,
        at: clock.now(),
        how,
      };
      await store.update((record) => approve(record, order), snapshot);
    },
    async decline(loaded, items, how) {
      await store.update((record) => decline(record, { items: keyed(loaded, items), at: clock.now(), how }));
    },
    async revokeEarlierRules() {
      await store.update(revokePolicies);
    },
    async revoke(servers) {
      await store.update((record) => revoke(record, servers === undefined ? undefined : new Set(servers)));
    },
  };
}

function identityOf(item: TrustItem): string {
  return item.kind === 'server' ? `server ${item.name}` : item.kind;
}

/** Values of the secret store are not part of what is approved. */
function textsOf({ sources }: LoadedConfiguration): ReadonlyMap<string, string> {
  return new Map(
    [...sources].flatMap(([file, { source }]): [string, string][] =>
      source.kind === 'text' && !isAbsolute(file) ? [[file, source.text]] : [],
    ),
  );
}
