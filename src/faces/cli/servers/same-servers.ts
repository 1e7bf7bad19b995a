import { isDeepStrictEqual } from 'node:util';
import type { ClientRules, Configuration, PolicyRule, ServerAccess, ServerSpec } from '../../../domain/index.ts';

/** Whether every server would start and contact the same, with the same rights, wherever that is written. */
export function isSameServers(before: Configuration, after: Configuration): boolean {
  const names = new Set([...before.servers.keys(), ...after.servers.keys()]);
  return [...names].every((name) => isDeepStrictEqual(factsOf(before, name), factsOf(after, name)));
}

function factsOf({ servers }: Configuration, name: string): unknown {
  const server = servers.get(name);
  return server?.kind === 'ready' ? specFacts(server.spec) : server?.kind;
}

/** Everything but places in files, which another place of the entry changes. */
function specFacts(spec: ServerSpec): unknown {
  const { source: _source, hides: _hides, disabledBy: _by, connectionKey: _key, access, restrictedBy, ...facts } = spec;
  const restrictions = restrictedBy.map(({ tools, access: granted, rules }) => {
    return { tools, access: granted && rightsOf(granted), rules: rules && rulesOf(rules) };
  });
  return { ...facts, access: rightsOf(access), restrictions };
}

function rightsOf({ source: _source, ...rights }: ServerAccess): unknown {
  return rights;
}

function rulesOf({ prefix, rules, agents }: ClientRules): unknown {
  return { prefix, rules: rules.map(ruleOf), agents: [...agents].map(([name, own]) => [name, own.map(ruleOf)]) };
}

function ruleOf({ source: _source, ...rule }: PolicyRule): unknown {
  return rule;
}
