export { stateHomeFor } from '../storage/index.ts';
export type { BuiltinOrder, Builtins, ChildStreams } from '../upstream/index.ts';
export { createHub } from './create-hub.ts';
export type { DefinitionReport } from './definitions/definition-report.ts';
export type {
  Diagnosis,
  DiagnosisOptions,
  InspectOutcome,
  LookOptions,
} from './diagnosis/diagnosis.ts';
export type { ExposedName } from './diagnosis/exposed-names.ts';
export { createEventQueue } from './events/event-queue.ts';
export type { HubEvent } from './events/hub-event.ts';
export type { ExplainedCall, Hub, HubDeps, HubOptions } from './hub.ts';
export type { HubMeter } from './hub-meter.ts';
export { createRedaction } from './redaction.ts';
export type { ServerLogLine, ServerLogs } from './server-logs.ts';
