import { isJsonObject } from '../../base/index.ts';
import { describeDecision } from '../../governance/index.ts';
import type { Hub } from '../../hub/index.ts';
import { createCatalogStore, workspaceLayout } from '../../storage/index.ts';
import type { CliContext } from './context.ts';
import type { AnyToolRow } from './json-shapes.ts';
import { oneLine } from './printable.ts';

/** Tools that servers have and the agent does not see, with the reason in the place of the description. */
export async function listHiddenTools(
  { clock }: CliContext,
  hub: Hub,
  agent: string,
  visible: readonly { readonly server: string; readonly tool: string }[],
): Promise<(AnyToolRow & { readonly description: string })[]> {
  const shown = new Set(visible.map(({ server, tool }) => `${server}.${tool}`));
  const catalogs = await createCatalogStore(workspaceLayout(hub.workspace), { clock }).load();
  const rows: (AnyToolRow & { readonly description: string })[] = [];
  for (const [server, entry] of hub.fleet.servers) {
    const known = catalogs.get(server);
    if (entry.kind !== 'ready' || known?.connectionKey !== entry.spec.connectionKey) continue;
    for (const { name: tool, text } of known.tools) {
      if (shown.has(`${server}.${tool}`)) continue;
      const decision = hub.explain([agent], server, tool);
      if (decision.effect !== 'deny') continue;
      const reason = describeDecision(decision, server, tool);
      rows.push({ name: null, server, tool, decision: 'deny', reason, description: shortReason(reason, text) });
    }
  }
  return rows;
}

function shortReason(reason: string, definition: string): string {
  const parsed: unknown = JSON.parse(definition);
  const description = isJsonObject(parsed) && typeof parsed.description === 'string' ? parsed.description : '';
  return oneLine(reason.slice(reason.indexOf(': ') + 2) || description);
}
