import { HubError } from '../../base/index.ts';
import type { CallRequest } from '../call.ts';
import { beginning } from '../call-errors.ts';
import type { View, ViewEntry } from '../views/view.ts';
import type { SessionUis } from './session-uis.ts';

/** A tool by the name that its own server gives it, as the server's user interfaces call it. */
export type AppTool =
  | { readonly kind: 'found'; readonly entry: ViewEntry }
  /** Several servers, whose interfaces this session has read, have a tool of that name. */
  | { readonly kind: 'ambiguous'; readonly servers: readonly string[] };

/**
 * For a name that the agent does not have. Policy has no say in whose tool it is: were a denied one passed over, the
 * call would go to another server than the one that the app means.
 */
export function findAppTool(view: View, request: CallRequest, uis: SessionUis): AppTool | undefined {
  // A program names tools in its own ways, and is no app.
  if (request.kind !== 'tool' || request.reference !== undefined) return undefined;
  const entries: ViewEntry[] = [];
  for (const server of uis.serversOf(request)) {
    const entry = view.appTool(server, request.name);
    if (entry !== undefined) entries.push(entry);
  }
  const [entry] = entries;
  if (entry === undefined) return undefined;
  if (entries.length === 1) return { kind: 'found', entry };
  return { kind: 'ambiguous', servers: entries.map(({ server }) => server) };
}

/** For the operator; the agent reads that the tool is unknown. */
export function ambiguousTool(name: string, servers: readonly string[]): HubError {
  const some = servers.slice(0, 8).map((server) => `"${server}"`);
  return new HubError(
    'TOOL_UNKNOWN',
    `Tool ${beginning(name)} is ambiguous: this session has read user interfaces of ${some.join(', ')}, and each has a tool of that name.`,
  );
}
