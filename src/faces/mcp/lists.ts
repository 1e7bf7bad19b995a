import { HubError } from '../../base/index.ts';
import type { ListKind, ListOptions } from '../../calls/index.ts';
import type { Caller } from '../../domain/index.ts';
import type { Hub } from '../../hub/index.ts';
import { errorReply, resultReply } from '../../mcp/index.ts';
import { caching, identity } from './initialize-result.ts';
import type { Request } from './operations.ts';
import { methodNotFound } from './protocol-errors.ts';

export function isList(method: string): boolean {
  return listKinds.has(method);
}

export const listKinds: ReadonlyMap<string, ListKind> = new Map([
  ['tools/list', 'tools'],
  ['prompts/list', 'prompts'],
  ['resources/list', 'resources'],
  ['resources/templates/list', 'templates'],
]);

/** The member of the result that has the entries. */
const members: Readonly<Record<ListKind, string>> = {
  tools: 'tools',
  prompts: 'prompts',
  resources: 'resources',
  templates: 'resourceTemplates',
};

/** Lists come from memory; only servers that were never discovered are waited for, `waitMs` at most. */
export async function listAnswer(hub: Hub, caller: Caller, request: Request, options: ListOptions): Promise<string> {
  const list = listKinds.get(request.method);
  if (list === undefined) throw methodNotFound(request);
  if (request.params.cursor !== undefined) {
    return errorReply(request.idText, new HubError('INVALID_PARAMS', 'The list has one page; send no cursor.'));
  }
  const entries = `"${members[list]}":${await hub.lists.text(caller, list, options)}`;
  return resultReply(
    request.idText,
    options.era === 'legacy' ? `{${entries}}` : `{"resultType":"complete",${entries},${caching},${identity}}`,
  );
}
