import type { AgentPolicy } from '../../governance/index.ts';
import type { ToolReference } from '../call.ts';
import { plainTarget, type Target } from '../target.ts';
import type { CatalogIndex, EntryPlace } from './catalog-index.ts';

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
  // A server that listed its tools without this one does not have it.
  if (catalog.isListed) return undefined;
  const unlisted = {
    kind: 'tool',
    name: `${server}.${tool}`,
    server,
    subjectName: tool,
    decision: policy.decide(server, tool, tool, null),
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
