import type { TrustItem } from './trust-item.ts';
import type { Approval, Pin, TrustRecord, TrustSource } from './trust-store.ts';

export interface ApproveOrder {
  readonly items: readonly TrustItem[];
  /** Everything on disk. */
  readonly all: readonly TrustItem[];
  /** Nothing was approved before that a policy could widen: the first approval of anything covers the one on disk. */
  readonly isFirst: boolean;
  /** The servers that are configured. Pins of others are dropped. */
  readonly names: ReadonlySet<string>;
  readonly snapshot: string;
  readonly at: number;
  readonly how: TrustSource;
}

/** Oldest approvals go first. Enough for years of branches. */
export const mostApprovals = 5000;

export function approve(record: TrustRecord, order: ApproveOrder): TrustRecord {
  const { snapshot, at, how } = order;
  const isFirst = order.isFirst && record.policy === undefined;
  const items = [...new Set([...order.items, ...(isFirst ? order.all.filter(isUndeclinedPolicy(record)) : [])])];
  const hashes = new Set(items.map(({ hash }) => hash));
  const servers = new Map([...record.servers].filter(([name]) => order.names.has(name)));
  let { policy } = record;
  for (const item of order.all) {
    const before = item.kind === 'server' ? servers.get(item.name) : policy;
    // A version that was approved before and is on disk now is pinned with the texts of now.
    if (!hashes.has(item.hash) && before?.hash !== item.hash) continue;
    const pin: Pin = { hash: item.hash, snapshot, files: item.kind === 'server' ? item.plan.files : [] };
    if (item.kind === 'server') servers.set(item.name, pin);
    else policy = pin;
  }
  const added = items.map((item): Approval => ({ hash: item.hash, kind: item.kind, name: nameOf(item), at, how }));
  return {
    approved: [...record.approved.filter(({ hash }) => !hashes.has(hash)), ...added].slice(-mostApprovals),
    declined: record.declined.filter(({ hash }) => !hashes.has(hash)),
    servers,
    policy,
  };
}

function isUndeclinedPolicy({ declined }: TrustRecord): (item: TrustItem) => boolean {
  return ({ kind, hash }) => kind === 'policy' && !declined.some((each) => each.hash === hash);
}

/** Remembers the answer "no". Another version of the same server that was approved before stays in force. */
export function decline(
  record: TrustRecord,
  { items, at, how }: Pick<ApproveOrder, 'items' | 'at' | 'how'>,
): TrustRecord {
  const hashes = new Set(items.map(({ hash }) => hash));
  const added = items.map((item): Approval => ({ hash: item.hash, kind: item.kind, name: nameOf(item), at, how }));
  return {
    ...record,
    approved: record.approved.filter(({ hash }) => !hashes.has(hash)),
    declined: [...record.declined.filter(({ hash }) => !hashes.has(hash)), ...added].slice(-mostApprovals),
    servers: new Map([...record.servers].filter(([, { hash }]) => !hashes.has(hash))),
  };
}

/**
 * Takes back every approval of these servers, whatever version it was for. Undefined: of all servers. The policy stays:
 * without approved rules there would be nothing to compare a changed policy with.
 */
export function revoke(record: TrustRecord, names: ReadonlySet<string> | undefined): TrustRecord {
  const goes = (name: string): boolean => names === undefined || names.has(name);
  return {
    ...record,
    approved: record.approved.filter(({ kind, name }) => kind === 'policy' || !goes(name)),
    servers: new Map([...record.servers].filter(([name]) => !goes(name))),
  };
}

/** Forgets every policy but the one that is in force, so that nobody can bring an earlier one back by its text. */
export function revokePolicies(record: TrustRecord): TrustRecord {
  return {
    ...record,
    approved: record.approved.filter(({ kind, hash }) => kind === 'server' || hash === record.policy?.hash),
  };
}

/** The policy has no name of its own, and a server may have any. */
function nameOf(item: TrustItem): string {
  return item.kind === 'server' ? item.name : '';
}
