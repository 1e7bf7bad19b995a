import type { CallApproval } from './model/call-approval.ts';
import type { StandingGrant } from './model/standing-grant.ts';

/** Stores approvals and grants beyond the life of the hub. */
export interface ApprovalStore {
  load(): Promise<StoredApprovals>;
  /**
   * Writes a new version of one entry if the stored one has the version before it; version 1 must be new. Resolves when
   * it would survive a power cut: with false if somebody else was faster. A rejected promise means that nobody knows;
   * `load` tells.
   */
  put(entry: StoredEntry): Promise<boolean>;
  /** From now on, everything stored counts as current, and no earlier copy of the store does. */
  begin(): Promise<void>;
  /** Forgets entries. */
  remove(ids: readonly string[]): Promise<void>;
  close(): Promise<void>;
}

export type StoredEntry =
  | { readonly kind: 'approval'; readonly value: CallApproval }
  | { readonly kind: 'grant'; readonly value: StandingGrant };

export interface StoredApprovals {
  readonly entries: readonly StoredEntry[];
  /** False: it belongs to another state folder or to an earlier time, so nothing in it may be used any more. */
  readonly isCurrent: boolean;
}
