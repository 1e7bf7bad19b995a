export { openTrustChanges, type TrustChanges } from './change-workspace-trust.ts';
export type { ConfigurationTrust } from './configuration-trust.ts';
export { branchName, readBranch } from './git-branch.ts';
export { loadTrusted, type TrustedFiles } from './load-trusted.ts';
export { findMainCheckout } from './main-checkout.ts';
export { type TrustMode, trustFiles } from './open-trust.ts';
export { pendingNotice } from './pending-notice.ts';
export type { StartingFiles } from './retain-approved.ts';
export { clockTime, findRetained, type RetainedFile, retainedNotice, withRetained } from './retained-file.ts';
