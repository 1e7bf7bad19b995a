import type { Pin, TrustRecord, TrustStore } from '../trust/index.ts';
import type { ApprovedLoads, ApprovedTexts } from './approved-texts.ts';

/** Where approvals are, and the key that identifies items in them. */
export interface TrustPlace {
  readonly key: Uint8Array;
  readonly store: TrustStore;
  /** The approvals of the main checkout, for a worktree. */
  readonly main: TrustStore | undefined;
}

export interface ReadRecords {
  readonly place: TrustPlace;
  readonly own: TrustRecord;
  /** Of the main checkout. */
  readonly main: TrustRecord | undefined;
  readonly loads: ApprovedLoads;
}

/** The stored approvals that count. */
export interface Records extends ReadRecords {
  readonly approved: ReadonlySet<string>;
  readonly declined: ReadonlySet<string>;
  /** The version of a server that was approved last; undefined: of the policy. A worktree's own counts first. */
  pinOf(server: string | undefined): Pin | undefined;
}

/** Where a digest is pinned, no stored approval counts. */
export function recordsOf(read: ReadRecords, hasDigest: boolean): Records {
  const { own, main } = read;
  const declined = hashesOf(own.declined);
  const inMain = [...hashesOf(main?.approved ?? [])].filter((hash) => !declined.has(hash));
  return {
    ...read,
    approved: new Set(hasDigest ? [] : [...hashesOf(own.approved), ...inMain]),
    declined,
    pinOf(server) {
      if (hasDigest) return undefined;
      if (server === undefined) return own.policy ?? main?.policy;
      const pin = own.servers.get(server) ?? main?.servers.get(server);
      // Declined in the worktree, and still approved in the main checkout.
      return pin === undefined || declined.has(pin.hash) ? undefined : pin;
    },
  };
}

export async function pinnedTexts(
  pin: Pin | undefined,
  { place, own, loads }: ReadRecords,
): Promise<ApprovedTexts | undefined> {
  if (pin === undefined) return undefined;
  const isOwn = own.policy === pin || [...own.servers.values()].includes(pin);
  const store = isOwn ? place.store : place.main;
  return store === undefined ? undefined : loads.pinned(store, pin);
}

function hashesOf(approvals: TrustRecord['approved']): ReadonlySet<string> {
  return new Set(approvals.map(({ hash }) => hash));
}
