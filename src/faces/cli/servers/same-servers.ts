import { isDeepStrictEqual } from 'node:util';
import type { Configuration, ServerAccess, ServerSpec } from '../../../domain/index.ts';

/** Whether every server would start and contact the same, with the same rights, wherever that is written. */
export function isSameServers(before: Configuration, after: Configuration): boolean {
  const names = new Set([...before.servers.keys(), ...after.servers.keys()]);
  return [...names].every((name) => isDeepStrictEqual(factsOf(before, name), factsOf(after, name)));
}

function factsOf({ servers }: Configuration, name: string): unknown {
  const server = servers.get(name);
  return server?.kind === 'ready' ? specFacts(server.spec) : server?.kind;
}

function specFacts(spec: ServerSpec): unknown {
  const { transport, fallbacks, enabled, shared, access, tools, limits, isolation, cache, instead, description } = spec;
  const restrictedBy = spec.restrictedBy.map(({ tools: only, access: granted, rules }) => [
    only,
    granted === undefined ? undefined : rightsOf(granted),
    rules,
  ]);
  const rights = { access: rightsOf(access), tools, limits, restrictedBy, shared, enabled };
  return { transport, fallbacks, isolation, cache, instead, description, ...rights };
}

function rightsOf({ source: _place, ...rights }: ServerAccess): unknown {
  return rights;
}
