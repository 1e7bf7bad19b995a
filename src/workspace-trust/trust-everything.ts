import type { LoadedConfiguration } from '../config/index.ts';
import { type ApprovedVersions, applyTrust, trustItems } from '../trust/index.ts';
import type { ConfigurationTrust } from './configuration-trust.ts';

/**
 * Trusts whatever the files say, once they are quiet: a file that is being written looks like one whose end was deleted.
 * Until then agents have only the rights that they had before as well.
 */
export function trustEverything(key: Uint8Array, first: LoadedConfiguration): ConfigurationTrust {
  let settled = first;
  let versions = versionsOf(first);

  function versionsOf({ configuration, plans }: LoadedConfiguration): ApprovedVersions {
    const items = trustItems({ configuration, plans }, key);
    const hashes = new Set(items.map(({ hash }) => hash));
    return {
      isApproved: ({ hash }) => hashes.has(hash),
      isDeclined: () => false,
      server(name) {
        const item = items.find((each) => each.kind === 'server' && each.name === name);
        return item?.kind === 'server' ? { item, files: [] } : undefined;
      },
      policy: {
        state: 'approved',
        item: items.find((each) => each.kind === 'policy'),
        rules: configuration,
        settings: configuration,
      },
    };
  }

  return {
    asks: false,
    itemsOf: async (loaded) => trustItems(loaded, key),
    judge: async (loaded) => applyTrust(loaded.configuration, trustItems(loaded, key), { versions, trustsPlans: true }),
    approvedBefore: async () => undefined,
    withhold() {
      // Nothing was approved here that could be taken back.
    },
    settle(loaded) {
      if (loaded === settled) return;
      settled = loaded;
      versions = versionsOf(loaded);
    },
  };
}
