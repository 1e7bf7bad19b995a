import type { Decision, ToolHints } from '../../domain/index.ts';
import { type ChainRights, notRouted, refusedBy, stricter } from './chain-rights.ts';
import { toolSpellings } from './name-list.ts';
import { decideByRules, type FindRule, liftedBy, looksAtArguments } from './rules/decide-by-rules.ts';
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
  const { rules } = rights;
  const decideWith = (find: FindRule): Decision => {
    const ruled = stricter(decideByRules(rules, find), rights.clientsOf(server)(tool));
    if (ruled.effect !== 'allow' || approval === undefined) return ruled;
    return liftedBy(rules, find) ?? approval;
  };
  const decision = decideWith((set) => set.find(server, subject));
  if (decision.effect === 'deny' || !looksAtArguments(rules, server, subject)) return decision;
  return { ...decision, condition: (call) => decideWith((set) => set.find(server, subject, call)) };
}
