export { type Attached, type AttachOrder, attachTo, type OutcomeOptions, readOutcome } from './attach.ts';
export {
  type AttachAnswer,
  type AttachRequest,
  attachApi,
  attachMs,
  attachRequestSchema,
  drainingLines,
  maxAttachBytes,
} from './attach-protocol.ts';
export { type BridgedHub, bridgeStdio } from './bridge-stdio.ts';
export { readFirstLine } from './first-line.ts';
