export { type CallLine, callLineSchema } from './call-line.ts';
export {
  type ConnectionFacts,
  type LedgerConnection,
  type LedgerSubject,
  ledgerConnection,
  ledgerSubject,
  type SubjectFacts,
} from './call-text.ts';
export type { CallEnd } from './end-text.ts';
export { type FollowCallsOptions, followCalls } from './follow-calls.ts';
export type { Ledger, LedgerHealth, OpenCall } from './ledger.ts';
export type { LedgerFiles } from './ledger-files.ts';
export { type OpenLedgerDeps, type OpenLedgerOptions, openLedger } from './open-ledger.ts';
export { type ReadCallsOptions, readCalls, readOpenCalls } from './read-calls.ts';
export type { Redact } from './redact.ts';
