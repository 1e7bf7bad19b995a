import { isJsonObject } from '../../base/index.ts';
import { rewriteReferences, withMembers } from '../../mcp/index.ts';

/**
 * A tool's definition in which the references to its user interface lead to the tool's own server, whatever their
 * scheme: no other server may supply it. `ownedBy` binds a URI to that server.
 */
export function withOwnUi(text: string, ownedBy: (uri: string) => string): string {
  if (!text.includes('esourceUri"')) return rewriteReferences(text, ownedBy);
  const { _meta: meta } = JSON.parse(text) as { _meta?: unknown }; // a definition is an object
  if (!isJsonObject(meta)) return text;
  const ui = isJsonObject(meta.ui) ? { ui: bound(meta.ui, 'resourceUri', ownedBy) } : {};
  const bare = bound({ ...meta, ...ui }, 'ui/resourceUri', ownedBy);
  // Other references, such as those of a host's own extension, name the same resources.
  const { 'ui/resourceUri': legacy, ui: current, ...others } = bare;
  const rewritten = JSON.parse(rewriteReferences(JSON.stringify({ _meta: others }), ownedBy)) as { _meta: object }; // as above
  const all = {
    ...(current === undefined ? {} : { ui: current }),
    ...(legacy === undefined ? {} : { 'ui/resourceUri': legacy }),
    ...rewritten._meta,
  };
  return withMembers(text, { _meta: JSON.stringify(all) });
}

function bound(
  members: Readonly<Record<string, unknown>>,
  key: string,
  ownedBy: (uri: string) => string,
): Record<string, unknown> {
  const uri = members[key];
  return typeof uri === 'string' ? { ...members, [key]: ownedBy(uri) } : { ...members };
}

/** Who may use a tool, by its definition; both unless it says otherwise. */
export interface ToolVisibility {
  readonly model: boolean;
  /** The user interfaces of the same server. */
  readonly app: boolean;
}

const both: ToolVisibility = { model: true, app: true };

export function visibilityOf(text: string): ToolVisibility {
  if (!text.includes('"visibility"')) return both;
  const { _meta: meta } = JSON.parse(text) as { _meta?: unknown }; // a definition is an object
  const visibility = isJsonObject(meta) && isJsonObject(meta.ui) ? meta.ui.visibility : undefined;
  if (!Array.isArray(visibility) || visibility.length === 0) return both;
  return { model: visibility.includes('model'), app: visibility.includes('app') };
}
