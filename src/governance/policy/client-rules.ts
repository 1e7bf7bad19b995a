import {
  type ClientRules,
  type ConfiguredServer,
  compileNameOrPattern,
  type Decision,
  isPattern,
  type PolicyRule,
} from '../../domain/index.ts';
import type { PolicyEntry } from './policy-entries.ts';
import { strictness } from './rules/strictness.ts';

/** The decision of clients' rules on a tool, resource or prompt. Undefined where they restrict nothing. */
export type ClientGate = (subject: string) => Decision | undefined;

/** Finds the last rule of a list that matches a name. */
type RuleFinder = (name: string) => PolicyRule | undefined;

/** The finder of each list. The servers of a file share its lists, so each is compiled once. */
export type RuleFinders = (rules: readonly PolicyRule[]) => RuleFinder;

export function createRuleFinders(): RuleFinders {
  const known = new WeakMap<readonly PolicyRule[], RuleFinder>();
  return (rules) => {
    const finder = known.get(rules) ?? createFinder(rules);
    known.set(rules, finder);
    return finder;
  };
}

/** Names are looked up, and only patterns are tried one by one. */
function createFinder(rules: readonly PolicyRule[]): RuleFinder {
  const names = new Map<string, number>();
  const patterns: { readonly at: number; readonly fits: (name: string) => boolean }[] = [];
  for (const [at, { pattern }] of rules.entries()) {
    if (isPattern(pattern)) patterns.push({ at, fits: compileNameOrPattern(pattern) });
    else names.set(pattern, at);
  }
  return (name) => {
    const last = patterns.findLast(({ fits }) => fits(name))?.at ?? -1;
    return rules[Math.max(last, names.get(name) ?? -1)];
  };
}

/** The strictest rule wins across agents and files. */
export function compileClientRules(
  server: ConfiguredServer | undefined,
  agents: readonly { readonly agent: string; readonly entries: readonly PolicyEntry[] }[],
  compile: RuleFinders,
): ClientGate {
  const restrictions = server?.kind === 'ready' ? server.spec.restrictedBy : [];
  const lists = restrictions.flatMap(({ rules }) =>
    rules === undefined ? [] : agents.map((each) => listFor(rules, each, compile)),
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
  compile: RuleFinders,
): (subject: string) => PolicyRule | undefined {
  const names = [agent, ...entries.map(({ entry }) => entry.name)];
  const list = names.flatMap((name) => (agents.has(name) ? [agents.get(name) ?? rules] : []))[0] ?? rules;
  const lastOf = compile(list);
  return (subject) => {
    const [written, plain] = [lastOf(`${prefix}${subject}`), lastOf(`${prefix}${subject.replace(/[^\w-]/g, '_')}`)];
    if (written === undefined || plain === undefined) return written ?? plain;
    return strictness(plain) > strictness(written) ? plain : written;
  };
}
