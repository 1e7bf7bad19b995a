export { cefFormat, type ExportFormat, jsonlFormat } from './exporting/export-formats.ts';
export type { ExportPositions } from './exporting/export-writes.ts';
export { type ExportOptions, runExport } from './exporting/run-export.ts';
export { redecide, syncRecord } from './held-call.ts';
export type { LedgerFiles } from './journal/file-operations.ts';
export type { Ledger, LedgerHealth, OpenCall } from './ledger.ts';
export { type OpenLedgerDeps, type OpenLedgerOptions, openLedger, settleJournals } from './open-ledger.ts';
export type { LedgerPlaces } from './places.ts';
export { type RecordedEvent, readEvents } from './reading/admin-events.ts';
export { type CallStatistics, isProbe, type SuspiciousCall } from './reading/call-statistics.ts';
export { type FollowCallsOptions, followCalls, type OnCall } from './reading/follow-calls.ts';
export { hasUnsettledCalls, readOpenCalls, readRecordedOpenCalls } from './reading/open-calls.ts';
export { type RecordedCalls, readCalls, readRecordedCalls } from './reading/read-calls.ts';
export type { ReadCallsOptions, RecordedCall } from './reading/recorded-call.ts';
export { runNames } from './reading/run-copies.ts';
export { type SummarizeOptions, summarizeCalls } from './reading/summarize-calls.ts';
export { readToolUses, type ToolUses } from './reading/tool-uses.ts';
export { visitJournalCalls } from './reading/visit-calls.ts';
export { type ActOrigin, type AdminAct, type AdminEvent, actOrigins, adminActs } from './records/admin-text.ts';
export { type CallLine, parseCallLine } from './records/call-line.ts';
export {
  type ConnectionRecord,
  type DecisionFacts,
  decidedSubject,
  isGood,
  type LedgerConnection,
  type LedgerSubject,
  ledgerConnection,
  ledgerSubject,
  type SubjectFacts,
} from './records/call-text.ts';
export type { CallEnd } from './records/end-text.ts';
export type { Redact } from './records/redact.ts';
export { isProblem, type LedgerFinding } from './verifying/ledger-finding.ts';
export { type LedgerHead, readLedgerHead } from './verifying/ledger-head.ts';
export { type LedgerReport, type VerifyOptions, verifyLedger } from './verifying/verify-ledger.ts';
