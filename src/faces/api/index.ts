export { approvalDetail } from './approvals/approval-bodies.ts';
export {
  type ApprovalDetailBody,
  type ApprovalSummaryBody,
  type ApprovedBody,
  type ApproveOrderBody,
  type ApproverBody,
  approvalDetailSchema,
  approvalListSchema,
  approvalSummarySchema,
  approvedSchema,
  type DenyOrderBody,
  type GrantBody,
  grantListSchema,
  grantSchema,
  type PageUrlBody,
  pageUrlSchema,
} from './approvals/approval-contract.ts';
export { changedMembers, memberTexts } from './approvals/argument-members.ts';
export { issuedTokenBody, tokenSummaryBody } from './bodies.ts';
export {
  apiErrorSchema,
  eventSchema,
  healthSchema,
  type IssuedTokenBody,
  issuedTokenSchema,
  problemSchema,
  type ServersBody,
  serversSchema,
  type TokenOrderBody,
  type TokenSummaryBody,
  tokenListSchema,
  tokenSummarySchema,
} from './contract.ts';
export { type ApiDeps, type ApiHandler, createApi } from './create-api.ts';
