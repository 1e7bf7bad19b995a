import { type Decision, isPattern, limitsOfRule, type PolicyRule } from '../../../domain/index.ts';
import type { PolicyEntry } from '../policy-entries.ts';
import type { RuleSet } from './rule-set.ts';
import { strictness } from './strictness.ts';

/** A rule set and the agent it applies to. Undefined: every agent. */
interface RuleSource {
  readonly rules: RuleSet;
  readonly agent: string | undefined;
}

/** All rule sets that apply to a chain. */
export interface ChainRules {
  readonly everybody: RuleSet | undefined;
  /** Of permissions files. They lift nothing. */
  readonly permissions: readonly RuleSet[];
  readonly agents: readonly AgentRules[];
}

/** The rule sets that apply to one agent. */
export interface AgentRules {
  readonly sources: readonly RuleSource[];
  /**
   * The set that may lift an approval: the role's if there is one, because an agent's own entry never widens its role.
   */
  readonly widest: RuleSource | undefined;
}

export function rulesFor(entries: readonly PolicyEntry[], rulesOf: (entry: string) => RuleSet | undefined): AgentRules {
  const sources = entries.map(({ entry, agent }) => ({ rules: rulesOf(entry.name), agent }));
  const widest = sources.at(-1);
  return { sources: sources.filter(hasRules), widest: widest !== undefined && hasRules(widest) ? widest : undefined };
}

/** Queries one rule set. */
export type FindRule = (rules: RuleSet) => PolicyRule | undefined;

const allowedByDefault: Decision = { effect: 'allow', reason: { kind: 'default' } };

/** `find` queries one rule set. Deny beats ask, and ask beats allow. Of equals, the first source is reported. */
export function decideByRules(rules: ChainRules, find: FindRule): Decision {
  let best: { readonly rule: PolicyRule; readonly agent: string | undefined } | undefined;
  const consider = ({ rules, agent }: RuleSource): void => {
    const rule = find(rules);
    if (rule === undefined) return;
    if (best === undefined || strictness(rule) > strictness(best.rule)) best = { rule, agent };
  };
  if (rules.everybody !== undefined) consider({ rules: rules.everybody, agent: undefined });
  for (const set of rules.permissions) consider({ rules: set, agent: undefined });
  for (const { sources } of rules.agents) sources.forEach(consider);
  return best === undefined ? allowedByDefault : toDecision(best.rule, best.agent);
}

/**
 * An exact `allow` lifts the approval that a server requires for writing: one rule for every agent, or one for each
 * agent of the chain. A pattern does not, because the author of `github.*: allow` did not have this tool in mind.
 */
export function liftedBy(rules: ChainRules, find: FindRule): Decision | undefined {
  const forAll = exactAllow(rules.everybody, find);
  if (forAll !== undefined) return toDecision(forAll, undefined);
  let first: Decision | undefined;
  for (const { widest } of rules.agents) {
    const rule = exactAllow(widest?.rules, find);
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

function exactAllow(rules: RuleSet | undefined, find: FindRule): PolicyRule | undefined {
  const rule = rules && find(rules);
  return rule?.effect === 'allow' && !isPattern(rule.pattern) ? rule : undefined;
}

function toDecision(rule: PolicyRule, agent: string | undefined): Decision {
  const { pattern, source, effect, message, approvers } = rule;
  const limits = limitsOfRule(rule);
  return {
    effect: effect === 'require-approval' ? 'ask' : effect,
    reason: {
      kind: 'rule',
      pattern,
      source,
      ...(agent === undefined ? {} : { agent }),
      ...(limits === undefined ? {} : { limits }),
      ...(message === undefined ? {} : { message }),
      ...(approvers === undefined ? {} : { approvers }),
    },
  };
}
