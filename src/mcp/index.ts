export { canonicalJson } from './canonical-json.ts';
export {
  checkMirroredHeaders,
  classify,
  type MirroredHeaders,
  metaOf,
  progressTokenOf,
} from './classify.ts';
export { type Askable, askableNothing, askableOf } from './client-capabilities.ts';
export {
  type Era,
  isModernVersion,
  legacyConnectionVersions,
  legacyUpstreamVersions,
  legacyVersions,
  metaKeys,
  modernVersion,
  modernVersions,
  negotiateLegacy,
} from './eras.ts';
export { createLineReader, type LineReader } from './lines.ts';
export { logLevels, reachesLevel } from './log-levels.ts';
export { withMembers } from './members.ts';
export { type Body, type Message, type Params, readBody } from './message.ts';
export {
  encodeHeaderValue,
  mirroredArgumentHeaders,
  scanMirroredArguments,
} from './mirrored-headers.ts';
export { oneLine } from './one-line.ts';
export {
  legacyQuestion,
  modernQuestion,
  notOffered,
  type Question,
  type QuestionAnswer,
  unanswered,
} from './question.ts';
export { errorReply, notification, rawErrorReply, resultReply } from './reply.ts';
export { createRequestStates, type RequestStates, type StateClaims } from './request-state.ts';
export { createSseReader, type SseEvent, type SseReader, sseComment, sseEvent, ssePriming } from './sse.ts';
export { createTaskIds, type TaskClaims, type TaskIds } from './task-ids.ts';
export { declaresTasks, tasksExtension, withTasks } from './tasks-extension.ts';
export { inTrace } from './trace-context.ts';
export { readUpstreamMessage, toLegacyResult, toModernResult, type UpstreamMessage } from './upstream-message.ts';
export { parseUriTemplate, type UriTemplate } from './uri-template.ts';
