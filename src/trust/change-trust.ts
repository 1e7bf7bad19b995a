import { countApprovals } from './counting-approvals.ts';
import { identityOf, type TrustItem } from './trust-item.ts';
import type { Approval, DeclinedItem, TrustRecord, TrustSource } from './trust-store.ts';

/** Where and when the operator acts. */
export interface ApprovalContext {
  readonly branch: string;
  readonly at: number;
  readonly how: TrustSource;
}

export interface ApproveOrder extends ApprovalContext {
  readonly items: readonly TrustItem[];
  /** Everything on disk. */
  readonly all: readonly TrustItem[];
  /** If no rules were ever approved, this covers those on disk. */
  readonly coversRules: boolean;
  /** The servers that are configured, valid or not. */
  readonly names: ReadonlySet<string>;
  /** The operator removed a server: one that is not configured is gone, wherever it was approved. */
  readonly isRemoval: boolean;
  readonly snapshot: string;
  /** Approvals of the main checkout, for a worktree. */
  readonly inMain: readonly Approval[];
}

export function approve(record: TrustRecord, order: ApproveOrder): TrustRecord {
  const { branch, at, how, snapshot } = order;
  const counting = countApprovals({
    approvals: [...order.inMain, ...record.approvals],
    branch,
    declined: hashesOf(record.declined),
  });
  const rules = order.all.find(({ kind }) => kind === 'policy');
  const rulesInForce = counting({ kind: 'policy' });
  const isCovered = (item: TrustItem): boolean =>
    item === rules && order.coversRules && rulesInForce.length === 0 && !hashesOf(record.declined).has(item.hash);
  const chosen = new Set([...order.items, ...order.all.filter(isCovered)].map(({ hash }) => hash));
  const here = new Map(record.approvals.flatMap((each) => (each.branch === branch ? [[identityOf(each), each]] : [])));
  for (const item of order.all) {
    const before = here.get(identityOf(item));
    const isChosen = chosen.has(item.hash);
    // A version that was approved before and is on disk now is kept with the texts of now.
    if (!isChosen && before?.hash !== item.hash) continue;
    const act = isChosen || before === undefined ? { at, how } : { at: before.at, how: before.how };
    const pin = { snapshot, files: item.kind === 'server' ? item.plan.files : [] };
    here.set(identityOf(item), { kind: item.kind, name: nameOf(item), hash: item.hash, branch, ...act, pin });
  }
  for (const gone of removedServers(record, order, chosen)) {
    here.set(identityOf(gone), { ...gone, hash: undefined, branch, at, how, pin: undefined });
  }
  // So that the rules of this branch are known here, whatever becomes of other branches and of the main checkout.
  const onDisk = rulesInForce.find(({ hash }) => hash === rules?.hash);
  const kept = onDisk === undefined ? rulesInForce[0] : { ...onDisk, pin: { snapshot, files: [] } };
  if (kept !== undefined && !here.has(identityOf(kept))) here.set(identityOf(kept), { ...kept, branch, at });
  return {
    ...record,
    approvals: bounded([...record.approvals.filter((each) => each.branch !== branch), ...here.values()]),
    declined: record.declined.filter(({ hash }) => !chosen.has(hash)),
  };
}

/** Whoever approves everything on disk approves what is not there as well. */
function removedServers(
  record: TrustRecord,
  { all, names, inMain, branch, isRemoval }: ApproveOrder,
  chosen: ReadonlySet<string>,
): readonly Approval[] {
  const known = [...inMain, ...record.approvals].filter(({ kind }) => kind === 'server');
  const onDisk = new Set(all.map(identityOf));
  if (all.every(({ hash }) => chosen.has(hash))) return known.filter((each) => !onDisk.has(identityOf(each)));
  // A branch without an answer of its own takes the one of any other, also of the main checkout.
  const isMeant = (each: Approval): boolean => isRemoval || (each.branch === branch && each.hash !== undefined);
  return known.filter((each) => isMeant(each) && !names.has(each.name));
}

/** Remembers the answer "no". Another version of the same server that was approved before stays in force. */
export function decline(
  record: TrustRecord,
  { items, at, how }: Pick<ApproveOrder, 'items' | 'at' | 'how'>,
): TrustRecord {
  const hashes = new Set(items.map(({ hash }) => hash));
  const added = items.map((item): DeclinedItem => ({ kind: item.kind, name: nameOf(item), hash: item.hash, at, how }));
  return {
    ...record,
    approvals: record.approvals.map((each) => {
      const isDeclined = each.kind === 'server' && each.hash !== undefined && hashes.has(each.hash);
      return isDeclined ? { ...each, hash: undefined, pin: undefined } : each;
    }),
    declined: [...record.declined.filter(({ hash }) => !hashes.has(hash)), ...added].slice(-mostApprovals),
  };
}

/** Enough for years. An approval on a branch is needed only where something differs from all other branches. */
export const mostBranches = 100;
export const mostApprovals = 5000;

/** The branches with the oldest approvals are forgotten first, as if nothing had been approved there. */
export function bounded(approvals: readonly Approval[]): readonly Approval[] {
  const branches = new Map<string, { newest: number; count: number }>();
  for (const { branch, at } of approvals) {
    const known = branches.get(branch);
    branches.set(branch, { newest: Math.max(at, known?.newest ?? 0), count: (known?.count ?? 0) + 1 });
  }
  const kept = new Set<string>();
  let total = 0;
  for (const [branch, { count }] of [...branches].sort(([, one], [, other]) => other.newest - one.newest)) {
    total += count;
    if (kept.size > 0 && (kept.size === mostBranches || total > mostApprovals)) break;
    kept.add(branch);
  }
  const removed = approvals.filter(({ hash }) => hash === undefined).sort((one, other) => other.at - one.at);
  const forgotten = new Set(removed.slice(mostApprovals));
  return approvals.filter((each) => kept.has(each.branch) && !forgotten.has(each));
}

export function hashesOf(items: readonly { readonly hash: string }[]): ReadonlySet<string> {
  return new Set(items.map(({ hash }) => hash));
}

/** The policy has no name of its own, and a server may have any. */
function nameOf(item: TrustItem): string {
  return item.kind === 'server' ? item.name : '';
}
