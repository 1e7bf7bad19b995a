export {
  type AgentAccount,
  type AgentAccounts,
  accountsForHeap,
  countedBytes,
  createAgentAccounts,
  type IncomingResponses,
  type KeepReason,
} from './agent-accounts.ts';
export { ByteBudget } from './byte-budget.ts';
export { type Clock, createSystemClock, settlesWithin, sleep, type Timer } from './clock.ts';
export { contain, containTimers, defectFields } from './defects.ts';
export { descriptorLimit } from './descriptor-limit.ts';
export {
  type AllowedHost,
  createEgressGuard,
  type EgressGuard,
  type EgressOptions,
  EgressRefusal,
  type ResolveAll,
  readAllowedHost,
} from './egress.ts';
export { errnoOf } from './errno.ts';
export {
  type ErrorCode,
  type ErrorDetails,
  type ErrorRow,
  errorTable,
  explainError,
  HubError,
  type HubErrorOptions,
  toHubError,
} from './errors.ts';
export type { FileDigest } from './file-digest.ts';
export { GatheredBytes } from './gathered-bytes.ts';
export { ensureGuardedFolder, type GuardedFolder, type GuardedPlace, openGuardedFolder } from './guarded-folder.ts';
export { createId, type RandomBytes, systemRandom } from './ids.ts';
export { type Linked, LinkedList } from './linked-list.ts';
export { createSilentLogger, type LogFields, type Logger } from './logger.ts';
export { unsafePlace } from './own-files.ts';
export { readPlainFile } from './plain-file.ts';
export {
  answersSignals,
  cookieName,
  isAlive,
  type ProcessLife,
  type ProcessRow,
  readProcess,
  thisProcess,
} from './process-life.ts';
export { type FolderCode, type FolderGuard, type FolderOptions, folderCode } from './program-start/folder-code.ts';
export { type ProgramFile, programFiles, stillHas } from './programs/program-files.ts';
export type { Program } from './programs/program-names.ts';
export { resolveExisting } from './resolve-existing.ts';
export { defaultPath, environmentOutside, isOutside, pathOutside } from './search-path.ts';
export { didYouMean, wordsMeant } from './text/did-you-mean.ts';
export { afterJsonString, isJsonObject } from './text/json.ts';
export { printable, printableLine, safeLine } from './text/visible-text.ts';
export { version } from './version.ts';
export { createWorkBudget, type WorkBudget } from './work-budget.ts';
