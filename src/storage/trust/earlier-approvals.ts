import type { Approval, DeclinedItem, Pin } from '../../trust/index.ts';

/** Approvals without branches, of every version of an item that was ever approved. */
export interface EarlierDocument {
  /** The newest last. */
  readonly approved: readonly DeclinedItem[];
  readonly declined: readonly DeclinedItem[];
  /** The versions that were approved last. */
  readonly servers: Readonly<Record<string, EarlierPin>>;
  readonly policy?: EarlierPin | undefined;
}

interface EarlierPin extends Pin {
  readonly hash: string;
}

/** Nobody knows on which branch they were given. No checkout is on this one. */
const branch = 'earlier';

/** Only the newest approval of each item counts. */
export function earlierApprovals({ approved, servers, policy }: EarlierDocument): readonly Approval[] {
  const newest = new Map(approved.map((each) => [`${each.kind} ${each.name}`, each]));
  return [...newest.values()].map((each) => {
    const pinned = each.kind === 'policy' ? policy : Object.hasOwn(servers, each.name) ? servers[each.name] : undefined;
    const { snapshot, files } = pinned ?? {};
    const isPinned = pinned?.hash === each.hash && snapshot !== undefined && files !== undefined;
    return { ...each, branch, pin: isPinned ? { snapshot, files } : undefined };
  });
}
