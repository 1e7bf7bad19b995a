import type { Decision, PolicyRule } from '../../domain/index.ts';
import { type RuleSet, strictness } from './rule-set.ts';
import type { Speaker } from './speakers.ts';
import { isPattern } from './wildcard.ts';

/** One map of rules and who it speaks for; undefined: for everybody. */
interface RuleSource {
  readonly rules: RuleSet;
  readonly agent: string | undefined;
}

/** All maps of rules that hold for a chain. */
export interface ChainRules {
  readonly everybody: RuleSet | undefined;
  readonly agents: readonly AgentRules[];
}

/** The maps that hold for one agent. */
export interface AgentRules {
  readonly sources: readonly RuleSource[];
  /** The one that may lift an approval: of the role where there is one, since an own entry never widens a role. */
  readonly widest: RuleSource | undefined;
}

export function rulesFor(speakers: readonly Speaker[], rulesOf: (entry: string) => RuleSet | undefined): AgentRules {
  const sources = speakers.map(({ entry, agent }) => ({ rules: rulesOf(entry.name), agent }));
  const widest = sources.at(-1);
  return { sources: sources.filter(hasRules), widest: widest !== undefined && hasRules(widest) ? widest : undefined };
}

const allowedByDefault: Decision = { effect: 'allow', reason: { kind: 'default' } };

/** `find` asks one map. Across sources deny beats ask beats allow; of equals the first source is named. */
export function decideByRules(rules: ChainRules, find: (rules: RuleSet) => PolicyRule | undefined): Decision {
  let best: { readonly rule: PolicyRule; readonly agent: string | undefined } | undefined;
  const consider = ({ rules, agent }: RuleSource): void => {
    const rule = find(rules);
    if (rule === undefined) return;
    if (best === undefined || strictness(rule) > strictness(best.rule)) best = { rule, agent };
  };
  if (rules.everybody !== undefined) consider({ rules: rules.everybody, agent: undefined });
  for (const { sources } of rules.agents) sources.forEach(consider);
  return best === undefined ? allowedByDefault : toDecision(best.rule, best.agent);
}

/**
 * An exact `allow` lifts the approval that a server wants for writing: one for everybody, or one for each agent of the
 * chain. A pattern does not: nobody who wrote `github.*: allow` has thought of this very tool.
 */
export function liftedBy(rules: ChainRules, server: string, tool: string): Decision | undefined {
  const forAll = exactAllow(rules.everybody, server, tool);
  if (forAll !== undefined) return toDecision(forAll, undefined);
  let first: Decision | undefined;
  for (const { widest } of rules.agents) {
    const rule = exactAllow(widest?.rules, server, tool);
    if (rule === undefined) return undefined;
    first ??= toDecision(rule, widest?.agent);
  }
  return first;
}

function hasRules(source: { readonly rules: RuleSet | undefined; readonly agent: string }): source is RuleSource & {
  readonly agent: string;
} {
  return source.rules !== undefined;
}

function exactAllow(rules: RuleSet | undefined, server: string, tool: string): PolicyRule | undefined {
  const rule = rules?.find(server, tool);
  return rule?.effect === 'allow' && !isPattern(rule.pattern) ? rule : undefined;
}

function toDecision({ pattern, source, effect }: PolicyRule, agent: string | undefined): Decision {
  return {
    effect: effect === 'require-approval' ? 'ask' : effect,
    reason: { kind: 'rule', pattern, source, ...(agent === undefined ? {} : { agent }) },
  };
}
