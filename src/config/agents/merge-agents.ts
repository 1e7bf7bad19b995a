import { type AgentSpec, limitsOfRule, type Problem, placeOf, type ToolPolicy } from '../../domain/index.ts';
import type { ReadSource } from '../assemble-configuration.ts';
import { quote, toProblem } from '../findings.ts';
import type { Reader } from '../readers/reader.ts';
import { gotNothing, lockedAgent } from './read-agents.ts';

/**
 * Agents come from the strongest file that has any: two lists of rights cannot be merged. A file that describes one
 * agent is not such a list. It adds an agent that the stronger list does not name, or names without any rights.
 */
export function mergeAgents(readSources: readonly ReadSource[]): {
  readonly agents: ReadonlyMap<string, AgentSpec>;
  readonly problems: readonly Problem[];
} {
  const first = readSources.find(({ content }) => content.agents.size > 0);
  const listed = first === undefined || first.reader.oneAgent ? new Map<string, AgentSpec>() : first.content.agents;
  const agents = new Map(listed);
  const describedBy = new Map<string, Reader>();
  const problems: Problem[] = [];
  for (const { reader, content } of readSources) {
    for (const agent of reader.oneAgent ? content.agents.values() : []) {
      const winner = agents.get(agent.name);
      const before = describedBy.get(agent.name);
      describedBy.set(agent.name, before ?? reader);
      if (winner === undefined || saysNothing(winner)) agents.set(agent.name, agent);
      else if (before !== reader) problems.push(...reportHidden(winner, agent));
      else {
        problems.push(describedTwice(winner, agent));
        agents.set(agent.name, lockedAgent(agent.name, winner.source));
      }
    }
  }
  return { agents, problems };
}

/** A team page names agents and gives them no rights. */
function saysNothing({ servers, tools, policy, shadow, budget }: AgentSpec): boolean {
  return servers === undefined && tools.size === 0 && (policy ?? shadow ?? budget) === undefined;
}

/** Reported only if it matters which of the two wins. */
function reportHidden(winner: AgentSpec, { name, source, ...hidden }: AgentSpec): Problem[] {
  if (rightsOf(winner) === rightsOf(hidden)) return [];
  const message = `Agent ${quote(name)} of ${placeOf(source)} is overridden by the one in ${placeOf(winner.source)}.`;
  return [toProblem(source.file, { severity: 'warning', line: source.line, message, fix: 'Remove one of the two.' })];
}

function rightsOf({ servers, tools, policy, shadow, budget }: Omit<AgentSpec, 'name' | 'source'>): string {
  const rulesOf = (rules: ToolPolicy | undefined): unknown =>
    rules?.rules.map((rule) => [rule.pattern, rule.effect, rule.otherwise, limitsOfRule(rule)]);
  const lists = [...tools].map(([server, { include, exclude }]) => [server, include, exclude]);
  return JSON.stringify([servers, lists, rulesOf(policy), rulesOf(shadow), budget]);
}

function describedTwice(first: AgentSpec, { name, source }: AgentSpec): Problem {
  const message = `Agent ${quote(name)} is described twice, in ${first.source.file} and in ${source.file}. ${gotNothing}`;
  const fix = 'Give one of them another slug, or remove it.';
  return { ...toProblem(source.file, { severity: 'error', line: source.line, message, fix }), fatal: true };
}
