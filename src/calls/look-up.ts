import { HubError } from '../base/index.ts';
import type { OperationKind } from '../domain/index.ts';
import { type LedgerSubject, ledgerSubject } from '../ledger/index.ts';
import type { TaskIds } from '../mcp/index.ts';
import type { UpstreamControl } from '../upstream/index.ts';
import { missingTool, undiscoveredBehind } from './away.ts';
import type { CallRequest } from './call.ts';
import { beginning } from './refusals.ts';
import { methods, type Target } from './target.ts';
import { findTask, missingTask, undiscoveredTaskServer } from './tasks.ts';
import type { View } from './view.ts';

/** What a request means in an agent's view; undefined for what it does not have, whatever the reason. */
export function lookUp(view: View, request: CallRequest, taskIds: TaskIds): Target | undefined {
  const { kind, name } = request;
  switch (kind) {
    case 'tool':
      return view.entries.get(name);
    case 'task-get':
    case 'task-update':
    case 'task-cancel':
      return findTask(view, taskIds, request, kind);
    default:
      return view.find(kind, name);
  }
}

/**
 * Whose it may be that nobody knows yet: one server, where the name says which; 'any' for a resource, whose URI does
 * not say; undefined where no server is left that could have it.
 */
export function undiscoveredOwner(
  view: View,
  request: CallRequest,
  taskIds: TaskIds,
): UpstreamControl | 'any' | undefined {
  if (view.unseen.length === 0) return undefined;
  const { kind, name } = request;
  switch (kind) {
    case 'tool':
    case 'prompt':
      return undiscoveredBehind(view, name);
    case 'completion':
      return name.startsWith('resource:') ? 'any' : undiscoveredBehind(view, name.slice(7));
    case 'resource':
    case 'subscription':
      return 'any';
    case 'task-get':
    case 'task-update':
    case 'task-cancel':
      return undiscoveredTaskServer(view, taskIds, request);
  }
}

/** The agent has nothing of that name; a tool may be one of a server that nobody could ask yet. */
export function missing(view: View, request: CallRequest, taskIds: TaskIds, now: number): HubError {
  const { kind, name } = request;
  switch (kind) {
    case 'tool':
      return missingTool(view, name, now);
    case 'resource':
    case 'subscription':
      return unknownResource(name);
    case 'prompt':
      return unknownPrompt(name);
    case 'completion':
      return name.startsWith('resource:') ? unknownResource(name.slice(9)) : unknownPrompt(name.slice(7));
    case 'task-get':
    case 'task-update':
    case 'task-cancel':
      return missingTask(view, taskIds, request, now);
  }
}

/** On the ledger as the caller said it. */
export function unknownSubject({ caller, kind, name }: CallRequest): LedgerSubject {
  const tool = wordFor(kind, name);
  const { agent, chain } = caller;
  return ledgerSubject({ agent, chain, server: null, tool, method: methods[kind], decision: 'deny' });
}

/** How the ledger says what somebody asked for. */
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
    hint: 'Ask for the list of resources again.',
    details: { uri: uri.slice(0, 2000) },
  });
}

function unknownPrompt(name: string): HubError {
  return new HubError('PROMPT_UNKNOWN', `Unknown prompt: ${beginning(name)}`, {
    hint: 'Ask for the list of prompts again.',
    details: { prompt: name.slice(0, 200) },
  });
}
