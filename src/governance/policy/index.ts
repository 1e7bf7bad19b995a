export { type AgentPolicy, compilePolicy, createPolicyCompiler, type PolicyCompiler } from './compile-policy.ts';
export { adviceOn, describeDecision } from './describe-decision.ts';
export { findWidenings } from './find-widenings.ts';
export type { UriTemplateForm } from './reading.ts';
export { isReadingName } from './reading-name.ts';
export { speakersFor } from './speakers.ts';
export { compileToolKind, type ToolKindOf } from './tool-kind.ts';
export { splitToolName, type ToolName } from './tool-name.ts';
export { type KnownTool, type KnownTools, unknownNames } from './unknown-names.ts';
