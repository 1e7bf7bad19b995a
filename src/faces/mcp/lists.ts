import { HubError } from '../../base/index.ts';
import type { View } from '../../calls/index.ts';
import type { Caller } from '../../domain/index.ts';
import type { Hub } from '../../hub/index.ts';
import { type Era, errorReply, resultReply } from '../../mcp/index.ts';
import type { Request } from './operations.ts';
import { caching, identity } from './server-card.ts';

export function isList(method: string): boolean {
  return lists.has(method);
}

const lists: ReadonlyMap<string, { readonly member: string; text(view: View, era: Era): string }> = new Map([
  [
    'tools/list',
    { member: 'tools', text: (view: View, era: Era) => (era === 'legacy' ? view.legacyToolsText : view.toolsText) },
  ],
  ['resources/list', { member: 'resources', text: (view: View) => view.resourcesText }],
  ['resources/templates/list', { member: 'resourceTemplates', text: (view: View) => view.templatesText }],
  ['prompts/list', { member: 'prompts', text: (view: View) => view.promptsText }],
]);

/** Lists are answered from what is known; only a server that was never seen is waited for, `waitMs` at most. */
export async function listAnswer(
  hub: Hub,
  caller: Caller,
  request: Request,
  { era, waitMs }: { readonly era: Era; readonly waitMs: number },
): Promise<string> {
  const list = lists.get(request.method);
  if (list === undefined) throw new HubError('METHOD_NOT_FOUND', `Method not found: ${request.method.slice(0, 200)}`);
  if (request.params.cursor !== undefined) {
    return errorReply(request.idText, new HubError('INVALID_PARAMS', 'The list has one page; send no cursor.'));
  }
  const known = hub.views.of(caller.chain);
  const view = known.unseen.length === 0 ? known : await firstView(hub, caller, waitMs);
  const items = `"${list.member}":${list.text(view, era)}`;
  return resultReply(
    request.idText,
    era === 'legacy' ? `{${items}}` : `{"resultType":"complete",${items},${caching},${identity}}`,
  );
}

/**
 * Of a client that cannot wait. An empty list would be of no use to it: Codex never lists again, but takes up a list
 * that comes late, so where nothing is known it waits as long as everybody.
 */
async function firstView({ views }: Hub, { chain }: Caller, waitMs: number): Promise<View> {
  const view = await views.settled(chain, waitMs);
  return view.entries.size > 0 || view.unseen.length === 0 ? view : views.settled(chain);
}

/** The lists of an agent at one time, to tell which of them have changed since. */
export interface KnownLists {
  tools: string;
  prompts: string;
  resources: string;
  templates: string;
}

export function knownLists(view: View): KnownLists {
  // The view's own texts, all of which may be long: every open stream holds them.
  const { toolsText: tools, promptsText: prompts, resourcesText: resources, templatesText: templates } = view;
  return { tools, prompts, resources, templates };
}

export type ListName = (typeof listNames)[number];

/** Templates are told of with the resources. */
export const listNames = ['tools', 'prompts', 'resources'] as const;

export const changeMethods: Readonly<Record<ListName, string>> = {
  tools: 'notifications/tools/list_changed',
  prompts: 'notifications/prompts/list_changed',
  resources: 'notifications/resources/list_changed',
};

/** Which lists are not what was known of them; from now on they are. */
export function takeChanges(known: KnownLists, view: View): readonly ListName[] {
  const now = knownLists(view);
  const changed = listNames.filter(
    (list) => known[list] !== now[list] || (list === 'resources' && known.templates !== now.templates),
  );
  Object.assign(known, now);
  return changed;
}
