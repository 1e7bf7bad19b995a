export { createAgentBudgets } from './agent-budgets.ts';
export { firstListMs } from './availability/first-contact.ts';
export { statusToolName } from './availability/status-tool.ts';
export { createResultCaches, type ResultCaches } from './cache/result-cache.ts';
export { Call, type CallRequest, type CallResult, type CallTarget, type ToolReference } from './call.ts';
export { resultTooLarge, whyStopped } from './call-errors.ts';
export type { CallClient, CallerChannel } from './channel.ts';
export { type CallsAwaitingInput, createCallsAwaitingInput } from './input-required/calls-awaiting-input.ts';
export { MultiRoundTrip } from './input-required/multi-round-trip.ts';
export type { CallMeter } from './observing/call-meter.ts';
export type { CallFacts, CallSpan, CallTracer } from './observing/call-tracer.ts';
export { createTracedCalls, type TracedCalls } from './observing/traced-calls.ts';
export { outcomeOf } from './outcomes.ts';
export type { CallPathDeps } from './path/call-run.ts';
export { countMessage } from './path/count-arguments.ts';
export { createRefusedCalls, type RefusedCalls } from './refusal-records.ts';
export { createCallPath } from './run-call.ts';
export { createRunLabels, type RunLabels } from './run-labels.ts';
export { createAllowedSubscriptions } from './subscriptions/allowed-subscription.ts';
export { ResourceSubscription } from './subscriptions/resource-subscription.ts';
export {
  type AgentLists,
  type AgentToolEntry,
  createAgentLists,
  type ListCaller,
  type ListDigests,
  type ListKind,
  type ListOptions,
} from './views/agent-lists.ts';

export { type Collision, createNameBook, type NameBook } from './views/naming/names.ts';
export { createResourceNames, type ResourceNames } from './views/naming/resource-names.ts';
export { readAccessOf } from './views/read-access.ts';
export { withholding } from './views/server-decisions.ts';
export type { ListedKind, View, ViewSource } from './views/view.ts';
export type { Listed } from './views/view-resources.ts';
export { createViews, type Views } from './views/views.ts';
