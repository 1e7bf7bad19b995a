export { type Clock, createSystemClock, sleep, type Timer } from './clock.ts';
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
export { GatheredBytes } from './gathered-bytes.ts';
export { ensureGuardedFolder, type GuardedFolder, openGuardedFolder } from './guarded-folder.ts';
export { createId, type RandomBytes, systemRandom } from './ids.ts';
export { isJsonObject } from './json.ts';
export { type Linked, LinkedList } from './linked-list.ts';
export { createSilentLogger, type LogFields, type Logger } from './logger.ts';
export {
  answersSignals,
  cookieName,
  isAlive,
  type ProcessLife,
  type ProcessRow,
  readProcess,
  thisProcess,
} from './process-life.ts';
export { version } from './version.ts';
