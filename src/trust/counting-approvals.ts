import { type ItemRef, identityOf } from './trust-item.ts';
import type { Approval } from './trust-store.ts';

export interface ApprovalScope {
  /** A later one of the same time wins. */
  readonly approvals: readonly Approval[];
  readonly branch: string;
  /** Hashes of versions that a person declined. */
  readonly declined: ReadonlySet<string>;
}

/**
 * Finds the approvals of an item that count, the newest first. On a branch with an approval of the item, only the last one
 * given there counts: whoever can write files must not be able to bring back a version that was replaced. On another
 * branch, the last one of each branch counts, so that a new branch asks nothing.
 */
export function countApprovals(scope: ApprovalScope): (item: ItemRef) => readonly Approval[] {
  const { branch, declined } = scope;
  const byItem = new Map<string, Map<string, Approval>>();
  for (const approval of scope.approvals) {
    const identity = identityOf(approval);
    const branches = byItem.get(identity) ?? new Map<string, Approval>();
    byItem.set(identity, branches);
    const other = branches.get(approval.branch);
    if (other === undefined || other.at <= approval.at) branches.set(approval.branch, approval);
  }
  return (item) => {
    const branches = byItem.get(identityOf(item));
    if (branches === undefined) return [];
    const here = branches.get(branch);
    const last = here === undefined ? [...branches.values()] : [here];
    return last.filter(({ hash }) => hash !== undefined && !declined.has(hash)).sort((one, other) => other.at - one.at);
  };
}
