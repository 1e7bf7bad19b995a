import type { CallToDecide, Decision, ToolHints } from '../../domain/index.ts';
import { type ChainRights, notRouted, refusedBy, stricter } from './chain-rights.ts';
import { toolSpellings } from './name-list.ts';
import { type ChainRules, decideByRules, type FindRule, liftedBy } from './rules/decide-by-rules.ts';
import type { RuleSet, RulesOnTool } from './rules/rule-set.ts';
import type { ToolClasses } from './tool-class.ts';
import { toolSubject } from './uris/read-name.ts';

export interface ToolToDecide {
  readonly server: string;
  readonly tool: string;
  readonly exposedName: string;
  readonly hints: ToolHints | null;
}

/** In this order: routing, tool lists, access settings, rules. */
export function decideTool(rights: ChainRights, { server, tool, exposedName, hints }: ToolToDecide): Decision {
  const blocked = rights.blockedAt(server);
  if (blocked !== undefined) return notRouted(blocked);
  const subject = toolSubject(tool);
  const spellings = toolSpellings(server, subject, toolSubject(exposedName));
  const gate = rights.gateOf(server);
  const refusal =
    refusedBy(rights.filtersOf(server), (filter) => filter.refuse(spellings)) ??
    gate?.shut ??
    gate?.refuse(tool, hints);
  if (refusal !== undefined) return refusal;
  const approval = gate?.requireApproval(tool, hints);
  const byClients = rights.clientsOf(server)(tool);
  const { rules } = rights;
  const decideWith = (find: FindRule): Decision => {
    const ruled = stricter(decideByRules(rules, find), byClients);
    if (ruled.effect !== 'allow' || approval === undefined) return ruled;
    return liftedBy(rules, find) ?? approval;
  };
  const onTool = rulesOnTool(server, subject, rights.classesOf(server)(tool, hints));
  const decision = decideWith((set) => onTool(set).widest);
  const looksAtCalls = allRuleSets(rules).some((set) => onTool(set).given !== undefined);
  const guard = rights.pathsOf(server)?.on(tool);
  if (decision.effect === 'deny' || !(looksAtCalls || guard?.refuse !== undefined)) return decision;
  const listed: Decision = {
    ...decision,
    condition(call) {
      const refused = guard?.refuse?.(call.args);
      // The same object, so that its record is made once for all calls.
      if (refused !== undefined || !looksAtCalls) return refused ?? listed;
      const judged: CallToDecide = { ...call, paths: guard?.paths };
      return decideWith((set) => {
        const { given, widest } = onTool(set);
        return given === undefined ? widest : given(judged);
      });
    },
  };
  return listed;
}

/** Each rule set is asked about a tool once; its calls use the answer. */
function rulesOnTool(server: string, subject: string, classes: ToolClasses): (set: RuleSet) => RulesOnTool {
  const known = new Map<RuleSet, RulesOnTool>();
  return (set) => {
    let found = known.get(set);
    if (found === undefined) {
      found = set.on(server, subject, classes);
      known.set(set, found);
    }
    return found;
  };
}

function allRuleSets({ everybody, permissions, agents }: ChainRules): readonly RuleSet[] {
  const own = agents.flatMap(({ sources }) => sources.map(({ rules }) => rules));
  return [...(everybody === undefined ? [] : [everybody]), ...permissions, ...own];
}
