export type { BuiltinOrder, Builtins, Peer } from '../upstream/index.ts';
export { createHub, type Hub, type HubDeps, type HubOptions } from './create-hub.ts';
export {
  type Diagnosis,
  type DiagnosisOptions,
  type InspectOutcome,
  type LookOptions,
  openDiagnosis,
} from './diagnosis.ts';
export type { ExposedName } from './exposed-names.ts';
export type { HubMeter } from './hub-meter.ts';
export { createRedaction } from './redaction.ts';
