import { isJsonObject } from '../../base/index.ts';
import { firstListMs } from '../../calls/index.ts';
import { metaKeys, metaOf, type Params } from '../../mcp/index.ts';

/**
 * How long the first list of a client may take before the client goes on without it, less some room for the way.
 * `docs/clients.md` has the measurements.
 */
const patienceMs: ReadonlyMap<string, number> = new Map([['codex-mcp-client', 800]]);

/** By what `initialize` says of the client; one that nobody measured gets what most can take. */
export function listPatience(clientInfo: unknown): number {
  const name = isJsonObject(clientInfo) ? clientInfo.name : undefined;
  return (typeof name === 'string' ? patienceMs.get(name) : undefined) ?? firstListMs;
}

/** A modern request says it in its own `_meta`. */
export function modernListPatience(params: Params): number {
  return listPatience(metaOf(params)?.[metaKeys.clientInfo]);
}
