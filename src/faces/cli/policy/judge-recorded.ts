import { isJsonObject } from '../../../base/index.ts';
import { type Configuration, type Decision, decideOn } from '../../../domain/index.ts';
import type { Hub } from '../../../hub/index.ts';
import { type CallLine, isProbe } from '../../../ledger/index.ts';

/** What a policy makes of a call that was recorded. */
export type ReplayedDecision =
  | { readonly kind: 'decided'; readonly decision: Decision }
  /** The record or this machine lacks something that the decision depends on. */
  | { readonly kind: 'unknown'; readonly why: UnknownReason }
  /** No policy decided on it: no server has such a tool, or the operator tested a server. */
  | { readonly kind: 'undecided' };

export type UnknownReason =
  | 'arguments-cut'
  | 'arguments-redacted'
  | 'labels-unknown'
  | 'server-invalid'
  | 'tools-unknown';

export interface JudgeDeps {
  readonly hub: Pick<Hub, 'catalogs' | 'explainerFor'>;
}

/** Decides on recorded calls by a configuration, as if it were approved. */
export function createRecordedJudge(
  { hub }: JudgeDeps,
  configuration: Configuration,
): (call: CallLine) => ReplayedDecision {
  const listed = rememberListed(hub.explainerFor(configuration));
  const catalogs = hub.catalogs();

  function unknownServer(server: string, { reason }: Decision): UnknownReason | undefined {
    if (configuration.servers.get(server)?.kind === 'invalid') return 'server-invalid';
    const dependsOnHints = 'because' in reason && reason.because === 'no-word';
    return dependsOnHints && !catalogs.has(server) ? 'tools-unknown' : undefined;
  }

  return (call) => {
    const { server, agent, chain = [agent], args, labels = [] } = call;
    if (server === null || call.decision === null || isProbe(call, call.args)) return { kind: 'undecided' };
    const decision = listed(chain, server, toolOf(call));
    const why = unknownServer(server, decision) ?? (decision.condition && unknownArguments(call));
    if (why !== undefined) return { kind: 'unknown', why };
    if (decision.condition === undefined || !isJsonObject(args)) return { kind: 'decided', decision };
    return { kind: 'decided', decision: decideOn(decision, { args, labels: new Set(labels) }) };
  };
}

/** A task belongs to the call that made it, and is decided by its tool. */
function toolOf({ tool, method }: CallLine): string {
  return method?.startsWith('tasks/') && tool.startsWith(taskPrefix) ? tool.slice(taskPrefix.length) : tool;
}

const taskPrefix = 'task:';

function unknownArguments({ args, args_length, labels }: CallLine): UnknownReason | undefined {
  if (args_length !== undefined || typeof args === 'string') return 'arguments-cut';
  if (labels === null) return 'labels-unknown';
  return JSON.stringify(args).includes(redactedText) ? 'arguments-redacted' : undefined;
}

/** As the audit log writes it. */
const redactedText = '[redacted]';

/** Most calls are of few tools. Callers can invent any number of URIs, so the memory is limited. */
function rememberListed(explain: Hub['explain']): (chain: readonly string[], server: string, tool: string) => Decision {
  const known = new Map<string, Decision>();
  return (chain, server, tool) => {
    const key = JSON.stringify([chain, server, tool]);
    const found = known.get(key) ?? explain(chain, server, tool);
    if (known.size < mostRemembered) known.set(key, found);
    return found;
  };
}

const mostRemembered = 10_000;
