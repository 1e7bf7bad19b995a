import { type ApprovalContext, bounded, hashesOf } from './change-trust.ts';
import { countApprovals } from './counting-approvals.ts';
import { type ItemRef, identityOf } from './trust-item.ts';
import type { Approval, TrustRecord } from './trust-store.ts';

export interface RevokeOrder extends ApprovalContext {
  /** The items that are meant. */
  isMeant(item: ItemRef): boolean;
  /** Approvals of the main checkout, for a worktree. */
  readonly inMain: readonly Approval[];
}

/**
 * Takes back every approval of these items on every branch, whatever version it was for. Rules are never taken back:
 * without approved rules there would be nothing to compare a changed policy with.
 */
export function revoke(record: TrustRecord, order: RevokeOrder): TrustRecord {
  const isMeant = (each: Approval): boolean => each.kind === 'server' && order.isMeant(each);
  return {
    ...record,
    approvals: bounded([
      ...record.approvals.filter((each) => !isMeant(each)),
      // What the main checkout has approved does not count here any more.
      ...lastOfEach(order.inMain.filter(isMeant)).map((each) => taken(each, order)),
    ]),
  };
}

/** On this branch, no version of these servers is approved. */
export function withdraw(record: TrustRecord, servers: readonly string[], act: ApprovalContext): TrustRecord {
  const names = new Set(servers);
  const isMeant = ({ kind, name, branch }: Approval): boolean =>
    kind === 'server' && names.has(name) && branch === act.branch;
  const nothing = { kind: 'server', hash: undefined, pin: undefined, ...act } as const;
  return {
    ...record,
    approvals: bounded([
      ...record.approvals.filter((each) => !isMeant(each)),
      ...servers.map((name): Approval => ({ ...nothing, name })),
    ]),
  };
}

/** Forgets every version of these items but the one that counts here, which counts on every branch from now on. */
export function revokeEarlier(record: TrustRecord, order: RevokeOrder): TrustRecord {
  const { branch, at, inMain } = order;
  const all = [...inMain, ...record.approvals];
  const counting = countApprovals({ approvals: all, branch, declined: hashesOf(record.declined) });
  const meant = new Map(all.flatMap((each) => (order.isMeant(each) ? [[identityOf(each), each]] : [])));
  const kept = [...meant.values()].flatMap((item): Approval[] => {
    const [current] = counting(item);
    const others = lastOfEach(inMain.filter((each) => identityOf(each) === identityOf(item)));
    const elsewhere = others.filter((each) => each.branch !== branch);
    if (current === undefined) return others.map((each) => taken(each, order));
    return [{ ...current, branch }, ...elsewhere.map((each) => ({ ...current, branch: each.branch, at }))];
  });
  return { ...record, approvals: bounded([...record.approvals.filter((each) => !order.isMeant(each)), ...kept]) };
}

function taken(approval: Approval, { at, how }: ApprovalContext): Approval {
  return { ...approval, hash: undefined, pin: undefined, at, how };
}

/** One for each item and branch. */
function lastOfEach(approvals: readonly Approval[]): readonly Approval[] {
  return [...new Map(approvals.map((each) => [`${each.branch} ${identityOf(each)}`, each])).values()];
}
