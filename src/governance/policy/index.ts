export { type AgentPolicy, compilePolicy, createPolicyCompiler, type PolicyCompiler } from './compile-policy.ts';
export { adviceOn, describeDecision } from './describe-decision.ts';
export { policyEntriesFor } from './policy-entries.ts';
export { compileToolKind, type ToolKindOf } from './tool-kind.ts';
export { type QualifiedToolName, splitsOfToolName } from './tool-name.ts';
export { type KnownTool, type KnownTools, unknownNames } from './unknown-names.ts';
export { createListedUris, type ListedUris } from './uris/listed-uris.ts';
export { isReadName } from './uris/read-name.ts';
export { maxDecisionWork, type UriTemplateForm } from './uris/read-subject.ts';
