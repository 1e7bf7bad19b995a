import type { Decision, MirroredArgument, OperationKind } from '../domain/index.ts';
import { type LedgerSubject, ledgerSubject } from '../ledger/index.ts';
import { metaKeys, withTasks } from '../mcp/index.ts';
import type { Link, UpstreamControl, UpstreamDispatch } from '../upstream/index.ts';
import type { CallRequest } from './call.ts';
import type { CallSpan } from './call-tracer.ts';
import type { Keeping } from './result-cache.ts';

/** What a call acts on, as one agent has it. Everything that a call needs of it is computed beforehand. */
export interface Target {
  readonly kind: OperationKind;
  /** As the agent says it. */
  readonly name: string;
  readonly server: string;
  /** By the server's own word, as policies and the ledger say it: `read_file`, `resource:file:///a`, `prompt:greet`. */
  readonly subjectName: string;
  readonly decision: Decision;
  readonly dispatch: UpstreamDispatch;
  readonly control: UpstreamControl;
  readonly subject: LedgerSubject;
  readonly method: string;
  /** By the server's own name or URI; what modern HTTP repeats in a header. */
  readonly ownName: string;
  /** Members of `params`, ready to splice; those of `arguments` follow where `carries` says so. */
  readonly callHead: string;
  /** The caller's arguments travel as they are, or as members beside the head, or not at all. */
  readonly carries: 'arguments' | 'members' | 'nothing';
  readonly mirrored: readonly MirroredArgument[];
  /** Asking twice does no harm. */
  readonly safeToRepeat: boolean;
  /** Its server may make a task of it, or has: it is told of a caller that takes tasks. */
  readonly tasks: boolean;
  /** What it means for results that are kept; undefined: nothing. */
  readonly keeping: Keeping | undefined;
}

/** What servers are asked, by what is done. */
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

/** What is no tool: no header repeats its arguments, and its method is on the ledger. */
export function otherTarget(chain: readonly string[], facts: OtherFacts, asSaid = false): Target {
  const { kind, server, subjectName, decision } = facts;
  const method = methods[kind];
  const agent = chain[0] ?? '';
  const effect = decision.effect;
  const subject = ledgerSubject({ agent, chain, server, tool: subjectName, method, decision: effect, asSaid });
  return { ...facts, subject, method, mirrored: [] };
}

type OtherFacts = Omit<Target, 'subject' | 'method' | 'mirrored'>;

/** Members of `params` for one call. */
export function membersOf(target: Target, argumentsText: string, inputs: string): string {
  const { carries, callHead } = target;
  // Nearly every call is one of a tool.
  const members = carries === 'arguments' ? callHead + argumentsText : carriedMembers(target, argumentsText);
  return inputs === '' ? members : `${members},${inputs}`;
}

function carriedMembers({ carries, callHead }: Target, argumentsText: string): string {
  const inner = argumentsText.trim().slice(1, -1).trim();
  return carries === 'nothing' || inner === '' ? callHead : `${callHead},${inner}`;
}

/** What a server is told that the client can do. */
export function carriedCapabilities({ client }: CallRequest, target: Target): string {
  if (client === undefined) return '{}';
  return client.takesTasks === true && target.tasks ? withTasks(client.askable.text) : client.askable.text;
}

/** What travels in `_meta`: the caller's own, the id of the call, and how much of the server's log it wants to hear. */
export function carriedMeta(request: CallRequest, span: CallSpan | undefined, link: Link, callId: string): string {
  const { meta } = span ?? request;
  const carried = `${meta}${meta === '' ? '' : ','}"quartermaster/call-id":"${callId}"`;
  const level = request.channel?.log?.level;
  if (level === undefined || link.era === 'legacy' || !link.tellsApart) return carried;
  return `${carried},"${metaKeys.logLevel}":${JSON.stringify(level)}`;
}
