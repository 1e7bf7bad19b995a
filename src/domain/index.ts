export { type Caller, runIdPattern } from './caller.ts';
export type { Decision, DecisionReason, RuleEffect } from './decision.ts';
export {
  type AgentSpec,
  type Fleet,
  type FleetServer,
  type HttpTransport,
  type Naming,
  type PolicyRule,
  type Problem,
  placeOf,
  type ServerLimits,
  type ServerSpec,
  type ServeSettings,
  type SourceRef,
  type StdioTransport,
  type ToolFilter,
  type ToolPolicy,
  type Transport,
} from './fleet.ts';
export type { Outcome } from './outcome.ts';
export type { ServerState, ServerStatus } from './server-state.ts';
export type { Catalog, MirroredArgument, ToolDefinition } from './tool.ts';
