import {
  type Decision,
  type DecisionReason,
  isReadOnly,
  placeOf,
  type ServerAccess,
  type ToolKindReason,
  type UriProblem,
  type WithheldReason,
} from '../../domain/index.ts';
import type { QualifiedToolName } from './tool-name.ts';

/** One sentence for the operator. An agent that is denied a hidden tool never sees it. */
export function describeDecision(decision: Decision, server: string, tool: string): string {
  return `${server}.${tool} ${effectText[decision.effect]}: ${because(decision.reason, server)}.`;
}

/**
 * The operator's next step if the server's access settings decided. Undefined if the sentence already names the rule or
 * list to change. `owner` is the entry that may lift an approval: `agent dev`, `role lead`.
 */
export function adviceOn(
  decision: Decision,
  { server, tool }: QualifiedToolName,
  { access, owner }: { readonly access: ServerAccess | undefined; readonly owner: string },
): string | undefined {
  const { reason } = decision;
  if (reason.kind === 'no-scope') return 'List the scopes it may be used for, or remove the empty list.';
  if (reason.kind !== 'read-only' && reason.kind !== 'write-approval') return undefined;
  const exact = `add the exact rule "${server}.${tool}: allow" for every agent or for ${owner}`;
  const ways = reason.kind === 'read-only' ? waysToWrite(access) : [exact];
  if (reason.because === 'untrusted-annotation') {
    ways.unshift(`set trustAnnotations: true if you trust the annotations of server ${server}`);
  }
  return `${capital(ways.join(', or '))}.`;
}

const effectText: Readonly<Record<Decision['effect'], string>> = {
  allow: 'is allowed',
  ask: 'needs approval',
  deny: 'is denied',
};

function because(reason: DecisionReason, server: string): string {
  switch (reason.kind) {
    case 'default':
      return 'no rule matches, and an agent may use its servers by default';
    case 'too-long':
      return `it has more than ${reason.limit} characters`;
    case 'unsafe-uri':
      return uriProblems[reason.problem];
    case 'protected-path':
      return `${reason.path} is protected; list it under allowPaths if agents may use it`;
    case 'unclear-path':
      return 'a path in its arguments has no single meaning, or leads through a link that cannot be followed';
    case 'definition-changed':
      return `${withheld[reason.why]} (quartermaster.lock); \`qm lock --diff ${server}\` shows it`;
    case 'not-routed':
      return `agent ${reason.agent} has no access to server ${server} (not routed, not shared, disabled or unknown)`;
    case 'not-included':
      return `it is not in the include list of ${reason.by} (${placeOf(reason.source)})`;
    case 'excluded':
      return `it is in the exclude list of ${reason.by} (${placeOf(reason.source)})`;
    case 'no-scope':
      return `the list of scopes of server ${reason.server} is empty and grants nothing (${placeOf(reason.source)})`;
    case 'read-only':
      return `server ${reason.server} is read-only (${placeOf(reason.source)}), and ${writes[reason.because]}`;
    case 'write-approval':
      return `server ${reason.server} requires approval for tools that may write (${placeOf(reason.source)}), and ${writes[reason.because]}`;
    case 'rule': {
      // Written rules have a line. Without one, it stands for the rules of a file that cannot be read.
      if (reason.pattern === '*' && reason.source.line === undefined)
        return `${reason.source.file} cannot be read, and it may restrict every tool`;
      const owner = reason.agent === undefined ? 'for every agent' : `of agent ${reason.agent}`;
      const limits = reason.limits === undefined ? '' : `, ${reason.limits},`;
      return `rule "${reason.pattern}"${limits} ${owner} applies (${placeOf(reason.source)})`;
    }
  }
}

const uriProblems: Readonly<Record<UriProblem, string>> = {
  'ambiguous-path':
    'servers could resolve the . or .. in its URI differently, because it also has a backslash or an encoded slash',
  'control-character': 'its URI has a control character, plain or percent-encoded',
  'encoded-too-often': 'its URI is percent-encoded more than three times over',
  'too-many-forms': 'servers could read its URI in too many ways to check them all',
  'too-much-work': 'its URI takes too long to compare with the resource templates of the server',
};

const withheld: Readonly<Record<WithheldReason, string>> = {
  changed: 'its definition is not the accepted one',
  new: 'nobody accepted its definition',
  instructions: "the server's instructions are not the accepted ones",
};

const writes: Readonly<Record<ToolKindReason, string>> = {
  'known-server': 'the tool is known to write',
  annotation: 'the server says that the tool writes',
  'no-word': 'the tool is not known to be read-only',
  'untrusted-annotation': 'its readOnlyHint is ignored because the server is not trusted',
};

/** Only steps that help: a write scope does not open a server that is also marked read-only. */
function waysToWrite(access: ServerAccess | undefined): string[] {
  const steps: string[] = [];
  if (access === undefined || isReadOnly({ scopes: access.scopes, readOnly: false })) {
    steps.push(`add a scope that writes${exampleScope(access)}`);
  }
  if (access?.readOnly === true) steps.push('remove its read-only setting');
  return [`${steps.join(' and ')} if the server may write`];
}

/** Suggests `write:files` for `read:files`. */
function exampleScope(access: ServerAccess | undefined): string {
  const thing = access?.scopes?.map((scope) => /^(?:read:(.+)|(.+):read)$/.exec(scope)).find((match) => match !== null);
  if (thing?.[1] !== undefined) return ` (write:${thing[1]})`;
  return thing?.[2] === undefined ? '' : ` (${thing[2]}:write)`;
}

function capital(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}
