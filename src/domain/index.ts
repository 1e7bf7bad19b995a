export { type AnswerBudget, type Caller, runIdPattern } from './caller.ts';
export {
  type Abilities,
  type Catalog,
  onlyTools,
  type PromptDefinition,
  type ResourceDefinition,
  type TemplateDefinition,
} from './catalog.ts';
export {
  type AccessRules,
  type AgentBudget,
  type AgentSpec,
  type ApprovalSettings,
  affectsAll,
  type BuiltinName,
  type BuiltinTransportSpec,
  builtinNames,
  type CacheSettings,
  type ClientRules,
  type Configuration,
  type ConfiguredServer,
  type ContentLabels,
  type HttpTransportSpec,
  type Isolation,
  type LedgerSettings,
  limitsOfRule,
  listSourceOf,
  type Naming,
  type PolicyRule,
  type Problem,
  type ProgramSettings,
  placeOf,
  type ResultSettings,
  type Retention,
  type RootsSource,
  type ServerAccess,
  type ServerLimits,
  type ServerRestriction,
  type ServerSpec,
  type ServeSettings,
  type SourceRef,
  type SseTransportSpec,
  type StdioTransportSpec,
  type ToolFilter,
  type ToolPolicy,
  type TransportKind,
  type TransportSpec,
  transportKinds,
  untrustedContent,
  worstProblem,
} from './configuration.ts';
export {
  type ArgumentPaths,
  type CallArguments,
  type CallToDecide,
  type Decision,
  type DecisionCondition,
  type DecisionReason,
  decideOn,
  maxUriLength,
  type RuleEffect,
  ruleOf,
  ruleSourceOf,
  type TextPattern,
  type ToolClass,
  type ToolKindReason,
  type UriProblem,
} from './decision.ts';
export { type DefinitionChange, definitionChanges } from './definition-changes.ts';
export {
  type DefinitionKind,
  type DefinitionPins,
  definitionKinds,
  type LockMode,
  narrowLock,
  noPins,
  type ServerLock,
  type Withheld,
  type WithheldDefinition,
  type WithheldReason,
} from './definition-lock.ts';
export type { OperationKind, TaskKind } from './operation.ts';
export type { Outcome } from './outcome.ts';
export { packageRunner } from './package-runner.ts';
export { type PermissionRules, type Permissions, permissionsInForce, type SharedRate } from './permissions.ts';
export { inReadOnlyMode, isInReadOnlyMode } from './read-only-mode.ts';
export { RedactionRule, type TextReplacement } from './redaction-rule.ts';
export { allHold, anyHolds, type Holds, negated, RuleCondition } from './rule-condition.ts';
export { isSameConnection } from './same-connection.ts';
export { isReadOnly } from './scopes.ts';
export type { ApprovedFiles, PlanFile, ServerPlan, TransportPlan } from './server-plan.ts';
export { type ServerLoad, type ServerState, type ServerStatus, serverStates } from './server-state.ts';
export type { MirroredArgument, ToolDefinition, ToolHints } from './tool.ts';
export { compileNameOrPattern, compileWildcard, isPattern, matchesWildcard, type Wildcard } from './wildcard.ts';
