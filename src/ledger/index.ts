export type { CallLine } from './call-line.ts';
export type { CallStatistics, SuspiciousCall } from './call-statistics.ts';
export {
  type ConnectionFacts,
  type LedgerConnection,
  type LedgerSubject,
  ledgerConnection,
  ledgerSubject,
  type SubjectFacts,
} from './call-text.ts';
export type { CallEnd } from './end-text.ts';
export { type FollowCallsOptions, followCalls, type OnCall } from './follow-calls.ts';
export type { Ledger, LedgerHealth, OpenCall } from './ledger.ts';
export type { LedgerFiles } from './ledger-files.ts';
export { type OpenLedgerDeps, type OpenLedgerOptions, openLedger } from './open-ledger.ts';
export {
  hasUnsettledCalls,
  type ReadCallsOptions,
  type RecordedCall,
  readCalls,
  readOpenCalls,
  readRecordedCalls,
  readRecordedOpenCalls,
  runNames,
} from './read-calls.ts';
export type { Redact } from './redact.ts';
export { type SummarizeOptions, summarizeCalls } from './summarize-calls.ts';
