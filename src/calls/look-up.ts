import { HubError } from '../base/index.ts';
import type { OperationKind } from '../domain/index.ts';
import { type LedgerSubject, ledgerSubject } from '../ledger/index.ts';
import type { TaskIds } from '../mcp/index.ts';
import type { UpstreamControl } from '../upstream/index.ts';
import {
  missingResource,
  missingTool,
  undiscoveredBehind,
  undiscoveredServer,
  undiscoveredWith,
} from './availability/unavailable.ts';
import type { CallRequest } from './call.ts';
import { beginning } from './call-errors.ts';
import { methods, type Target } from './target.ts';
import { findTask, missingTask, undiscoveredTaskServer } from './tasks.ts';
import type { ReadKind } from './views/read-target.ts';
import type { View } from './views/view.ts';

/** The target of a request in an agent's view. Undefined if unknown. A denied tool is found too. */
export function lookUp(view: View, request: CallRequest, taskIds: TaskIds): Target | undefined {
  const { kind, name, reference } = request;
  switch (kind) {
    case 'tool':
      return reference === undefined ? view.findTool(name) : findReferred(view, name, reference);
    case 'task-get':
    case 'task-update':
    case 'task-cancel':
      return findTask(view, taskIds, request, kind);
    default:
      return view.find(kind, name) ?? (reference === undefined ? undefined : findBySubject(view, 'find', kind, name));
  }
}

/** If a text can be read in both ways, `server.tool` comes before an exposed name. */
function findReferred(view: View, name: string, reference: NonNullable<CallRequest['reference']>): Target | undefined {
  if (reference !== 'subject') return view.toolOrDenied(reference.server, reference.tool);
  return view.toolBySubject(name) ?? view.findTool(name);
}

/** A prompt by `server.prompt`. */
function findBySubject(view: View, how: 'find' | 'findDenied', kind: ReadKind, name: string): Target | undefined {
  const prefix = kind === 'completion' ? 'prompt:' : '';
  if ((kind !== 'prompt' && kind !== 'completion') || !name.startsWith(prefix)) return undefined;
  const exposed = view.promptName(name.slice(prefix.length));
  return exposed === undefined ? undefined : view[how](kind, prefix + exposed);
}

/** The denied target of a request, for the record. Undefined if unknown. */
export function lookUpDenied(view: View, { kind, name, reference }: CallRequest): Target | undefined {
  switch (kind) {
    case 'tool':
      // By its exposed name `lookUp` finds it even if it is denied.
      return view.deniedTool(typeof reference === 'object' ? reference : name);
    case 'task-get':
    case 'task-update':
    case 'task-cancel':
      // `lookUp` finds these even if they are denied.
      return undefined;
    default:
      return (
        view.findDenied(kind, name) ??
        (reference === undefined ? undefined : findBySubject(view, 'findDenied', kind, name))
      );
  }
}

/**
 * The undiscovered server that may have an unknown name: one server if the name says which, 'any' for a resource URI,
 * which does not say it, and undefined if no undiscovered server could have it.
 */
export function undiscoveredOwner(
  view: View,
  request: CallRequest,
  taskIds: TaskIds,
): UpstreamControl | 'any' | undefined {
  if (view.undiscovered.length === 0) return undefined;
  const { kind, name, reference } = request;
  switch (kind) {
    case 'tool':
      return undiscoveredWithTool(view, name, reference);
    case 'prompt':
      return reference === undefined ? undiscoveredBehind(view, name) : 'any';
    case 'completion':
      if (!name.startsWith('resource:'))
        return reference === undefined ? undiscoveredBehind(view, name.slice(7)) : 'any';
      return view.ownerOfMissingRead(kind, name) ?? 'any';
    case 'resource':
    case 'subscription':
      return view.ownerOfMissingRead(kind, name) ?? 'any';
    case 'task-get':
    case 'task-update':
    case 'task-cancel':
      return undiscoveredTaskServer(view, taskIds, request);
  }
}

/** A program may use a name that says nothing of its server. */
function undiscoveredWithTool(
  view: View,
  name: string,
  reference: CallRequest['reference'],
): UpstreamControl | 'any' | undefined {
  if (typeof reference === 'object') return undiscoveredServer(view, reference);
  const behind = undiscoveredWith(view, name);
  return behind ?? (reference === undefined || view.namesServer(name) ? undefined : 'any');
}

/**
 * Servers that may turn out to have the URI of the target: if several servers have it, it belongs to the first one in
 * the configuration. Names of tools and prompts are reserved for undiscovered servers until they have listed theirs.
 */
export function possibleOwners(view: View, { kind, name }: CallRequest, target: Target): readonly UpstreamControl[] {
  if (view.undiscovered.length === 0 || kind === 'tool' || !target.subjectName.startsWith('resource:')) return [];
  const uri = kind === 'completion' ? name.slice(name.indexOf(':') + 1) : name;
  return uri === target.ownName ? view.unknownBefore(target.server) : [];
}

/** The agent has nothing of that name. A tool may belong to a server that could not be asked yet. */
export function missing(view: View, request: CallRequest, taskIds: TaskIds, now: number): HubError {
  const { kind, name, reference } = request;
  switch (kind) {
    case 'tool':
      return missingTool(view, typeof reference === 'object' ? reference : name, now);
    case 'resource':
    case 'subscription':
      return missingResource(view, kind, name, now) ?? unknownResource(name);
    case 'prompt':
      return unknownPrompt(name);
    case 'completion':
      if (!name.startsWith('resource:')) return unknownPrompt(name.slice(7));
      return missingResource(view, kind, name, now) ?? unknownResource(name.slice(9));
    case 'task-get':
    case 'task-update':
    case 'task-cancel':
      return missingTask(view, taskIds, request, now);
  }
}

/** The ledger subject for an unknown name, as the caller wrote it. */
export function unknownSubject({ caller, kind, name }: CallRequest): LedgerSubject {
  const tool = wordFor(kind, name);
  const { agent, chain } = caller;
  return ledgerSubject({ agent, chain, server: null, tool, method: methods[kind], decision: 'deny' });
}

/** The name of a requested object in the ledger. */
export function wordFor(kind: OperationKind, name: string): string {
  return `${prefixes[kind]}${name}`;
}

const prefixes: Readonly<Record<OperationKind, string>> = {
  tool: '',
  resource: 'resource:',
  subscription: 'resource:',
  prompt: 'prompt:',
  completion: '',
  'task-get': 'task:',
  'task-update': 'task:',
  'task-cancel': 'task:',
};

export function unknownResource(uri: string): HubError {
  return new HubError('RESOURCE_UNKNOWN', `Unknown resource: ${beginning(uri)}`, {
    hint: 'List the resources again.',
    details: { uri: uri.slice(0, 2000) },
  });
}

function unknownPrompt(name: string): HubError {
  return new HubError('PROMPT_UNKNOWN', `Unknown prompt: ${beginning(name)}`, {
    hint: 'List the prompts again.',
    details: { prompt: name.slice(0, 200) },
  });
}
