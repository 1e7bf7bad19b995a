export { createApprovalPage } from './create-approval-page.ts';
