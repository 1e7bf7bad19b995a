export {
  type ApprovedPolicy,
  type ApprovedServer,
  type ApprovedVersions,
  applyTrust,
  type Judgement,
  type PendingItem,
} from './apply-trust.ts';
export { type ApproveOrder, approve, decline, revoke, revokePolicies } from './change-trust.ts';
export { changedLines } from './item-lines.ts';
export {
  digestPattern,
  type PolicyItem,
  type ServerItem,
  type TrustItem,
  trustDigest,
  trustItems,
} from './trust-item.ts';
export type {
  Approval,
  NewSnapshot,
  Pin,
  Snapshot,
  TrustRecord,
  TrustSource,
  TrustStore,
} from './trust-store.ts';
export { waitingLines } from './waiting-lines.ts';
