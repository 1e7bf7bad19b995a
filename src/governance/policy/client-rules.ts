import {
  type ClientRules,
  type ConfiguredServer,
  compileNameOrPattern,
  type Decision,
  type PolicyRule,
} from '../../domain/index.ts';
import type { PolicyEntry } from './policy-entries.ts';
import { strictness } from './rules/strictness.ts';

/** The decision of clients' rules on a tool, resource or prompt. Undefined where they restrict nothing. */
export type ClientGate = (subject: string) => Decision | undefined;

/** The strictest rule wins across agents and files. */
export function compileClientRules(
  server: ConfiguredServer | undefined,
  agents: readonly { readonly agent: string; readonly entries: readonly PolicyEntry[] }[],
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

/** The agent's own rules, else its role's, else the rules for all agents. */
function listFor(
  { prefix, rules, agents }: ClientRules,
  { agent, entries }: { readonly agent: string; readonly entries: readonly PolicyEntry[] },
): (subject: string) => PolicyRule | undefined {
  const names = [agent, ...entries.map(({ entry }) => entry.name)];
  const list = names.flatMap((name) => (agents.has(name) ? [agents.get(name) ?? rules] : []))[0] ?? rules;
  const compiled = list.map((rule) => ({ rule, fits: compileNameOrPattern(rule.pattern) }));
  const lastOf = (name: string): PolicyRule | undefined => compiled.findLast(({ fits }) => fits(name))?.rule;
  return (subject) => {
    const [written, plain] = [lastOf(`${prefix}${subject}`), lastOf(`${prefix}${subject.replace(/[^\w-]/g, '_')}`)];
    if (written === undefined || plain === undefined) return written ?? plain;
    return strictness(plain) > strictness(written) ? plain : written;
  };
}
