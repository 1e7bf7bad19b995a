import {
  type Decision,
  type MirroredArgument,
  type OperationKind,
  ruleOf,
  ruleSourceOf,
  type ToolDefinition,
} from '../domain/index.ts';
import { type DecisionFacts, type LedgerSubject, ledgerSubject } from '../ledger/index.ts';
import { callingAgentKey, metaKeys, withTasks } from '../mcp/index.ts';
import type { Connection, UpstreamControl, UpstreamDispatch } from '../upstream/index.ts';
import type { CacheUse } from './cache/result-cache.ts';
import type { CallRequest } from './call.ts';
import type { CallSpan } from './observing/call-tracer.ts';

/** The object of a call in the view of one agent. Everything that a call needs from it is precomputed. */
export interface Target {
  readonly kind: OperationKind;
  /** The exposed name or URI. */
  readonly name: string;
  readonly server: string;
  /** The server's own name, as in policies and the ledger: `read_file`, `resource:file:///a`, `prompt:greet`. */
  readonly subjectName: string;
  readonly decision: Decision;
  /** Of a tool. */
  readonly tool?: ToolDefinition;
  readonly dispatch: UpstreamDispatch;
  readonly control: UpstreamControl;
  readonly subject: LedgerSubject;
  readonly method: string;
  /** The server's own name or URI, which modern HTTP repeats in a header. */
  readonly ownName: string;
  /** Members of `params` as text. The arguments follow as `carries` says. */
  readonly callHead: string;
  /** The caller's arguments are sent as `arguments`, as members beside the head, or not at all. */
  readonly carries: 'arguments' | 'members' | 'nothing';
  readonly mirrored: readonly MirroredArgument[];
  /** Sending it twice does no harm. */
  readonly safeToRepeat: boolean;
  /** It may become a task or is one, so the server is told whether the caller supports tasks. */
  readonly tasks: boolean;
  /** Its use of the cache. Undefined: none. */
  readonly cacheUse: CacheUse | undefined;
}

/** The MCP method of each operation. */
export const methods: Readonly<Record<OperationKind, string>> = {
  tool: 'tools/call',
  resource: 'resources/read',
  subscription: 'resources/subscribe',
  prompt: 'prompts/get',
  completion: 'completion/complete',
  'task-get': 'tasks/get',
  'task-update': 'tasks/update',
  'task-cancel': 'tasks/cancel',
};

/** A target that is not a tool: no header repeats its arguments, and the ledger has its method. */
export function plainTarget(chain: readonly string[], facts: PlainFacts, asSaid = false): Target {
  const { kind, server, subjectName, decision } = facts;
  const method = methods[kind];
  const agent = chain[0] ?? '';
  const subject = ledgerSubject({
    agent,
    chain,
    server,
    tool: subjectName,
    method,
    ...decisionFacts(decision),
    asSaid,
  });
  return { ...facts, subject, method, mirrored: [] };
}

/** A decision as the ledger records it. */
export function decisionFacts(decision: Decision): DecisionFacts {
  return { decision: decision.effect, rule: ruleOf(decision), ruleSource: ruleSourceOf(decision) };
}

type PlainFacts = Omit<Target, 'subject' | 'method' | 'mirrored'>;

/** Members of `params` for one call. */
export function paramsOf(target: Target, argumentsText: string, inputs: string): string {
  const { carries, callHead } = target;
  // Nearly every call is one of a tool.
  const members = carries === 'arguments' ? callHead + argumentsText : carriedMembers(target, argumentsText);
  return inputs === '' ? members : `${members},${inputs}`;
}

function carriedMembers({ carries, callHead }: Target, argumentsText: string): string {
  const inner = argumentsText.trim().slice(1, -1).trim();
  return carries === 'nothing' || inner === '' ? callHead : `${callHead},${inner}`;
}

/** The client capabilities that the server gets. */
export function carriedCapabilities({ client }: CallRequest, target: Target): string {
  if (client === undefined) return '{}';
  return client.takesTasks === true && target.tasks
    ? withTasks(client.clientCapabilities.text)
    : client.clientCapabilities.text;
}

/**
 * The members of `_meta`: the caller's own, the call id, the log level that the caller wants, and for the hub's own servers
 * the agent.
 */
export function carriedMeta(
  request: CallRequest,
  span: CallSpan | undefined,
  connection: Connection,
  callId: string,
): string {
  const { meta } = span ?? request;
  const named = `${meta}${meta === '' ? '' : ','}"quartermaster/call-id":"${callId}"`;
  const isOwn = connection.transport === 'builtin';
  const carried = isOwn ? `${named},"${callingAgentKey}":${JSON.stringify(request.caller.agent)}` : named;
  const level = request.channel?.log?.level;
  if (level === undefined || connection.era === 'legacy' || !connection.canAttributeMessages) return carried;
  return `${carried},"${metaKeys.logLevel}":${JSON.stringify(level)}`;
}
