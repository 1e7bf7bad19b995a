export { openTrustChanges, type TrustChanges } from './change-workspace-trust.ts';
export type { ConfigurationTrust } from './configuration-trust.ts';
export { findMainCheckout } from './main-checkout.ts';
export { openTrust, type TrustMode, trustFiles } from './open-trust.ts';
export { pendingNotice } from './pending-notice.ts';
export { retainApproved, type StartingFiles } from './retain-approved.ts';
export { clockTime, findRetained, type RetainedFile, retainedNotice, withRetained } from './retained-file.ts';
