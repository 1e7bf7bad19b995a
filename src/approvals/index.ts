export type { ApprovalOptions } from './approval-parts.ts';
export type { ApprovalStore, StoredApprovals, StoredEntry } from './approval-store.ts';
export type {
  ApprovalChange,
  ApprovalDecisions,
  ApprovalStatistics,
  Approvals,
  AskOutcome,
  CallApprovals,
  ClaimedGrant,
  GrantHold,
} from './approvals.ts';
export { type ApprovalsDeps, openApprovals } from './create-approvals.ts';
export { type PageSession, PageSessions } from './links/page-sessions.ts';
export type { ApprovalKind, ApprovalRequest, Approver, CallApproval } from './model/call-approval.ts';
export type { CallBinding } from './model/call-binding.ts';
export type { GrantTerms, StandingGrant } from './model/standing-grant.ts';
