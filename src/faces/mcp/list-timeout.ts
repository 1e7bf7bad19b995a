import { isJsonObject } from '../../base/index.ts';
import { firstListMs, type ListOptions } from '../../calls/index.ts';
import { metaKeys, metaOf, type Params, uiDeclarationIn } from '../../mcp/index.ts';

/**
 * How long a client waits for its first list before it goes on without it, less a margin for the network.
 * `docs/clients.md` and the pages that it links to have the measurements.
 */
const timeoutMs: ReadonlyMap<string, number> = new Map([['codex-mcp-client', 800]]);

/** By the client's name in `initialize`; clients that were not measured get the limit that most accept. */
export function listTimeout(clientInfo: unknown): number {
  return timeoutMs.get(clientNameOf(clientInfo) ?? '') ?? firstListMs;
}

/** Undefined if it says none, or a name that no client has. */
export function clientNameOf(clientInfo: unknown): string | undefined {
  const name = isJsonObject(clientInfo) ? clientInfo.name : undefined;
  return typeof name === 'string' && name.length <= longestName ? name : undefined;
}

const longestName = 100;

/** A modern request says in its own `_meta` what a list depends on. */
export function modernListClient(params: Params): ListOptions {
  const meta = metaOf(params) ?? {};
  return {
    era: 'modern',
    showsUi: uiDeclarationIn(meta[metaKeys.clientCapabilities]) !== undefined,
    waitMs: listTimeout(meta[metaKeys.clientInfo]),
  };
}
