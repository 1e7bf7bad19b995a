export { type Caller, runIdPattern } from './caller.ts';
export {
  type Abilities,
  type Catalog,
  onlyTools,
  type PromptDefinition,
  type ResourceDefinition,
  type TemplateDefinition,
} from './catalog.ts';
export {
  type Decision,
  type DecisionReason,
  maxUriLength,
  type RuleEffect,
  type ToolKindReason,
  type UriProblem,
} from './decision.ts';
export {
  type AgentSpec,
  type BuiltinName,
  type BuiltinTransport,
  builtinNames,
  type CacheSettings,
  type ClientRules,
  type Fleet,
  type FleetServer,
  type HttpTransport,
  type Isolation,
  type Naming,
  type PolicyRule,
  type Problem,
  type ProgramSettings,
  placeOf,
  type ServerAccess,
  type ServerLimits,
  type ServerRestriction,
  type ServerSpec,
  type ServeSettings,
  type SourceRef,
  type SseTransport,
  type StdioTransport,
  type ToolFilter,
  type ToolPolicy,
  type Transport,
  type TransportKind,
  transportKinds,
} from './fleet.ts';
export type { GivenName, NameKind } from './given-name.ts';
export type { OperationKind, TaskKind } from './operation.ts';
export type { Outcome } from './outcome.ts';
export { packageRunner } from './package-runner.ts';
export { type ServerLoad, type ServerState, type ServerStatus, serverStates } from './server-state.ts';
export type { MirroredArgument, ToolDefinition, ToolHints } from './tool.ts';
