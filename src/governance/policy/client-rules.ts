import type { ClientRules, Decision, FleetServer, PolicyRule } from '../../domain/index.ts';
import { strictness } from './rule-set.ts';
import type { Speaker } from './speakers.ts';
import { compileWildcard, matchesWildcard } from './wildcard.ts';

/** What the rules of clients say of a tool, a resource or a prompt; undefined where they let it be. */
export type ClientGate = (subject: string) => Decision | undefined;

/** Of several agents and several files the strictest counts. */
export function compileClientRules(
  server: FleetServer | undefined,
  agents: readonly { readonly agent: string; readonly speakers: readonly Speaker[] }[],
): ClientGate {
  const restrictions = server?.kind === 'ready' ? server.spec.restrictedBy : [];
  const lists = restrictions.flatMap(({ rules }) =>
    rules === undefined ? [] : agents.map((each) => listFor(rules, each)),
  );
  if (lists.length === 0) return () => undefined;
  return (subject) => {
    let strictest: PolicyRule | undefined;
    for (const find of lists) {
      const rule = find(subject);
      if (rule !== undefined && (strictest === undefined || strictness(rule) > strictness(strictest))) strictest = rule;
    }
    if (strictest === undefined || strictest.effect === 'allow') return undefined;
    const { effect, pattern, source } = strictest;
    return { effect: effect === 'deny' ? 'deny' : 'ask', reason: { kind: 'rule', pattern, source } };
  };
}

/** The agent's own rules, else those of its role, else those for all. */
function listFor(
  { prefix, rules, agents }: ClientRules,
  { agent, speakers }: { readonly agent: string; readonly speakers: readonly Speaker[] },
): (subject: string) => PolicyRule | undefined {
  const names = [agent, ...speakers.map(({ entry }) => entry.name)];
  const list = names.flatMap((name) => (agents.has(name) ? [agents.get(name) ?? rules] : []))[0] ?? rules;
  const compiled = list.map((rule) => ({ rule, wildcard: compileWildcard(rule.pattern) }));
  const lastOf = (name: string): PolicyRule | undefined =>
    compiled.findLast(({ wildcard }) => matchesWildcard(wildcard, name))?.rule;
  return (subject) => {
    const [written, plain] = [lastOf(`${prefix}${subject}`), lastOf(`${prefix}${subject.replace(/[^\w-]/g, '_')}`)];
    if (written === undefined || plain === undefined) return written ?? plain;
    return strictness(plain) > strictness(written) ? plain : written;
  };
}
