export { type Caller, runIdPattern } from './caller.ts';
export type { Decision, DecisionReason, RuleEffect } from './decision.ts';
export type {
  AgentSpec,
  Fleet,
  FleetServer,
  HttpTransport,
  Naming,
  PolicyRule,
  Problem,
  ServerLimits,
  ServerSpec,
  ServeSettings,
  SourceRef,
  StdioTransport,
  ToolFilter,
  ToolPolicy,
  Transport,
} from './fleet.ts';
export type { Outcome } from './outcome.ts';
export type { ServerState, ServerStatus } from './server-state.ts';
export type { Catalog, MirroredArgument, ToolDefinition } from './tool.ts';
