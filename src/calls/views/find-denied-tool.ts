import type { AgentPolicy } from '../../governance/index.ts';
import type { ToolReference } from '../call.ts';
import { plainTarget, type Target } from '../target.ts';
import type { CatalogIndex, EntryPlace } from './catalog-index.ts';
import { prefixedName } from './naming/names.ts';
import { withholding } from './server-decisions.ts';

/** Of a server that has not listed its tools too. */
export function findDeniedTool(
  { policy, chain }: { readonly policy: AgentPolicy; readonly chain: readonly string[] },
  index: CatalogIndex,
  { server, tool }: ToolReference,
  entryAt: (place: EntryPlace) => Target | undefined,
): Target | undefined {
  const catalog = index.servers.get(server);
  if (catalog === undefined) return undefined;
  const { handles } = catalog;
  const place = catalog.tools.places.get(tool);
  if (place !== undefined) return ifDenied(entryAt({ server: catalog, index: place }));
  const unaccepted = catalog.catalog?.withheld?.tool.get(tool);
  // A server that listed its tools without this one does not have it.
  if (catalog.isListed && unaccepted === undefined) return undefined;
  const decision = policy.decide(server, tool, tool, unaccepted?.definition.hints ?? null);
  const unlisted = {
    kind: 'tool',
    name: `${server}.${tool}`,
    server,
    subjectName: tool,
    decision: unaccepted === undefined ? decision : withholding(decision, unaccepted.why),
    dispatch: handles.dispatch,
    control: handles.control,
    ownName: tool,
    callHead: '',
    carries: 'nothing',
    safeToRepeat: false,
    tasks: false,
    cacheUse: undefined,
  } as const;
  // The name is the caller's own text.
  return ifDenied(plainTarget(chain, unlisted, true));
}

function ifDenied(target: Target | undefined): Target | undefined {
  return target?.decision.effect === 'deny' ? target : undefined;
}

/** The tool that would have this exposed name, if it were accepted. Looks only at servers that have such tools. */
export function findUnaccepted(index: CatalogIndex, name: string): ToolReference | undefined {
  for (const [server, { catalog }] of index.servers) {
    if (catalog?.withheld === undefined) continue;
    const prefix = prefixedName(server, '');
    const candidates = name.startsWith(prefix) ? [name, name.slice(prefix.length)] : [];
    const tool = candidates.find((own) => catalog.withheld?.tool.get(own)?.why === 'new');
    if (tool !== undefined) return { server, tool };
  }
  return undefined;
}
