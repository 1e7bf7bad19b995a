export { createBoundedLines } from './bounded-lines.ts';
export { findHeaderMismatch, type RequestHeaders } from './check-mirrored-arguments.ts';
export {
  checkMirroredHeaders,
  classify,
  type MirroredHeaders,
  metaOf,
  progressTokenOf,
} from './classify.ts';
export {
  type ClientCapabilities,
  clientCapabilitiesOf,
  noClientCapabilities,
  withoutServerRequests,
} from './client-capabilities.ts';
export { decodeMessage } from './decode-message.ts';
export {
  callingAgentKey,
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
export { elementsOfMember } from './json/array-member.ts';
export { canonicalJson } from './json/canonical-json.ts';
export { canonicalText } from './json/canonical-text.ts';
export { renameContents } from './json/content-uris.ts';
export { firstTextOf } from './json/first-text.ts';
export { heldBytesOf } from './json/held-bytes.ts';
export { maxParsedAtOnce, unparsedText, withResultMembers } from './json/lazy-members.ts';
export { membersOf, withMembers } from './json/members.ts';
export { oneLine } from './json/one-line.ts';
export { isCheapToParse } from './json/parse-bounds.ts';
export { isDeeperThan } from './json/scan-json.ts';
export { createLineReader, type LineReader } from './line-reader.ts';
export { logLevels, reachesLevel } from './log-levels.ts';
export { type Body, type Message, maxIdLength, type Params, readBody } from './message.ts';
export {
  encodeHeaderValue,
  mirroredArgumentHeaders,
  scanMirroredArguments,
} from './mirrored-headers.ts';
export { errorReply, notification, rawErrorReply, resultReply } from './reply.ts';
export { createRequestStates, type RequestStates, type StateClaims } from './request-state.ts';
export { mapErrorStrings, mapResultStrings, type ResultString } from './result-texts.ts';
export {
  type ClientResponse,
  legacyServerRequest,
  modernInputRequest,
  notSupported,
  type ServerRequest,
  unanswered,
} from './server-request.ts';
export { sseComment, sseEvent, ssePriming } from './sse.ts';
export { createSseReader, type SseEvent, type SseReader } from './sse-reader.ts';
export { createTaskIds, type TaskClaims, type TaskIds } from './task-ids.ts';
export { declaresTasks, tasksExtension, withTasks } from './tasks-extension.ts';
export { inTrace } from './trace-context.ts';
export { mayHoldScopedUri, rewriteReferences, rewriteResultUris } from './ui/rewrite-uris.ts';
export { hasScopedScheme, isUiUri, readScopedUri, scopeUri } from './ui/scoped-uris.ts';
export { sharedCapabilities, uiDeclarationIn, uiExtension } from './ui/ui-extension.ts';
export {
  type AnswerLimit,
  readUpstreamMessage,
  toLegacyResult,
  toModernResult,
  type UpstreamMessage,
} from './upstream-message.ts';
export { parseUriTemplate, type UriTemplate } from './uri-templates/uri-template.ts';
