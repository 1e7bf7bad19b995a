import {
  type Decision,
  type DecisionReason,
  placeOf,
  type ServerAccess,
  type ToolKindReason,
  type UriProblem,
} from '../../domain/index.ts';
import { isReadOnly } from './scopes.ts';
import type { ToolName } from './tool-name.ts';

/** One sentence for the operator; an agent that is denied a hidden tool never reads it. */
export function describeDecision(decision: Decision, server: string, tool: string): string {
  return `${server}.${tool} ${verdictOf[decision.effect]}: ${because(decision.reason, server)}.`;
}

/**
 * What the operator can do where the server's own statement on access decided; undefined where the rule or list that
 * the sentence names is all there is to change. `owner` is whose entry may lift an approval: `agent dev`, `role lead`.
 */
export function adviceOn(
  decision: Decision,
  { server, tool }: ToolName,
  { access, owner }: { readonly access: ServerAccess | undefined; readonly owner: string },
): string | undefined {
  const { reason } = decision;
  if (reason.kind === 'no-scope') return 'Write the scopes that it may be used for, or remove the empty list.';
  if (reason.kind !== 'read-only' && reason.kind !== 'write-approval') return undefined;
  const exact = `add the exact rule "${server}.${tool}: allow" for every agent or for ${owner}`;
  const ways = reason.kind === 'read-only' ? waysToWrite(access) : [exact];
  if (reason.because === 'untrusted-annotation') {
    ways.unshift(`set trustAnnotations: true if you trust what server ${server} says of its own tools`);
  }
  return `${capital(ways.join(', or '))}.`;
}

const verdictOf: Readonly<Record<Decision['effect'], string>> = {
  allow: 'is allowed',
  ask: 'needs approval',
  deny: 'is denied',
};

function because(reason: DecisionReason, server: string): string {
  switch (reason.kind) {
    case 'default':
      return 'no rule speaks of it, and what is routed is allowed by default';
    case 'too-long':
      return `it has more than ${reason.limit} characters`;
    case 'unsafe-uri':
      return uriProblems[reason.problem];
    case 'not-routed':
      return `agent ${reason.agent} has no server ${server} (not routed to it, not shared, switched off or unknown)`;
    case 'not-included':
      return `the include list of ${reason.by} does not name it (${placeOf(reason.source)})`;
    case 'excluded':
      return `the exclude list of ${reason.by} names it (${placeOf(reason.source)})`;
    case 'no-scope':
      return `the list of scopes of server ${reason.server} is empty and grants nothing (${placeOf(reason.source)})`;
    case 'read-only':
      return `server ${reason.server} is read-only (${placeOf(reason.source)}), and ${writes[reason.because]}`;
    case 'write-approval':
      return `server ${reason.server} wants a human for what may write (${placeOf(reason.source)}), and ${writes[reason.because]}`;
    case 'rule': {
      const owner = reason.agent === undefined ? 'for every agent' : `of agent ${reason.agent}`;
      return `rule "${reason.pattern}" ${owner} decides (${placeOf(reason.source)})`;
    }
  }
}

const uriProblems: Readonly<Record<UriProblem, string>> = {
  'control-character': 'its URI has a control character, plain or percent-encoded',
  'encoded-too-often': 'its URI is percent-encoded more than three times over',
  'too-many-forms': 'servers could read its URI in too many ways to check them all',
};

const writes: Readonly<Record<ToolKindReason, string>> = {
  'known-server': 'the tool is known to write',
  annotation: 'the server itself says that the tool writes',
  'no-word': 'nobody says that the tool only reads',
  'untrusted-annotation': 'that the tool only reads is the word of a server that is not trusted',
};

/** Only what really helps: a write scope does not open a server that is also said to be read-only. */
function waysToWrite(access: ServerAccess | undefined): string[] {
  const steps: string[] = [];
  if (access === undefined || isReadOnly({ scopes: access.scopes, readOnly: false })) {
    steps.push(`add a scope that writes${exampleScope(access)}`);
  }
  if (access?.readOnly === true) steps.push('take its read-only setting away');
  return [`${steps.join(' and ')} if the server may write`];
}

/** `read:files` suggests `write:files`. */
function exampleScope(access: ServerAccess | undefined): string {
  const thing = access?.scopes?.map((scope) => /^(?:read:(.+)|(.+):read)$/.exec(scope)).find((match) => match !== null);
  if (thing?.[1] !== undefined) return ` (write:${thing[1]})`;
  return thing?.[2] === undefined ? '' : ` (${thing[2]}:write)`;
}

function capital(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}
