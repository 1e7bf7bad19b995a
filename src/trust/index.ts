export {
  type ApprovedPolicy,
  type ApprovedServer,
  type ApprovedVersions,
  applyTrust,
  type Judgement,
  type PendingItem,
} from './apply-trust.ts';
export { type ApprovalContext, approve, decline, hashesOf } from './change-trust.ts';
export { countApprovals } from './counting-approvals.ts';
export { changedLines } from './item-lines.ts';
export { revoke, revokeEarlier, withdraw } from './revoke-trust.ts';
export {
  digestPattern,
  type ItemRef,
  identityOf,
  itemSource,
  type PolicyItem,
  type ServerItem,
  type TrustItem,
  trustDigest,
  trustItems,
} from './trust-item.ts';
export type {
  Approval,
  DeclinedItem,
  NewSnapshot,
  Pin,
  Snapshot,
  TrustRecord,
  TrustSource,
  TrustStore,
} from './trust-store.ts';
export { waitingLines } from './waiting-lines.ts';
