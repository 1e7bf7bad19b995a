import { type Decision, type Fleet, maxUriLength, type ToolHints, type UriProblem } from '../../domain/index.ts';
import { type AccessGate, compileAccess } from './access-gate.ts';
import { compileClientRules } from './client-rules.ts';
import { decideByRules, liftedBy, rulesFor } from './decide-by-rules.ts';
import { toolSpellings } from './name-list.ts';
import { uriProblem } from './percent-decoding.ts';
import { createReading, type FormsOf } from './reading.ts';
import { resourcePrefix, toolSubject } from './reading-name.ts';
import { compileRouting } from './routing.ts';
import { compileRuleSet, type RuleSet } from './rule-set.ts';
import { type Speaker, speakersFor } from './speakers.ts';
import { type CompiledFilter, compileFilter } from './tool-filter.ts';

/** What one chain of agents may do; list and call ask the same object. */
export interface AgentPolicy {
  /** Routing only. */
  seesServer(server: string): boolean;
  /** `hints` is null where the server has not told of such a tool. */
  decide(server: string, tool: string, exposedName: string, hints: ToolHints | null): Decision;
  /**
   * On `resource:<uri>` and `prompt:<name>`, in the server's own words. Reading is not writing, so a server's statement
   * on access has no say. URIs are compared in their normal forms. One that the server does not list is the caller's own:
   * it comes with `formsOf`, and what is said of a template holds for it too.
   */
  decideReading(server: string, subject: string, formsOf?: FormsOf): Decision;
}

/** Compiles chains of one fleet and shares what they have in common. */
export type PolicyCompiler = (chain: readonly string[]) => AgentPolicy;

/** For one chain alone; whoever compiles many takes `createPolicyCompiler`. */
export function compilePolicy(fleet: Fleet, chain: readonly string[]): AgentPolicy {
  return createPolicyCompiler(fleet)(chain);
}

/** `chain` is the agent and those that delegated to it; its rights are the intersection of theirs. */
export function createPolicyCompiler(fleet: Fleet): PolicyCompiler {
  const routeOf = compileRouting(fleet);
  const globalRules = fleet.policy === undefined ? undefined : compileRuleSet(fleet.policy, fleet.servers);
  const rulesOf = remember((entry: string): RuleSet | undefined => {
    const policy = fleet.agents.get(entry)?.policy;
    return policy === undefined ? undefined : compileRuleSet(policy, fleet.servers);
  });
  const gateOf = remember((server: string): AccessGate | undefined => {
    const entry = fleet.servers.get(server);
    return entry?.kind === 'ready' ? compileAccess(entry.spec) : undefined;
  });

  return (chain) => {
    const agents = [...new Set(chain)];
    const heard = agents.map((agent) => ({ agent, speakers: speakersFor(fleet, agent) }));
    const routes = heard.map(({ agent, speakers }) => routeOf(agent, speakers));
    const rules = { everybody: globalRules, agents: heard.map(({ speakers }) => rulesFor(speakers, rulesOf)) };
    const speakers = heard.flatMap(({ speakers }) => speakers);
    const filtersOf = remember((server: string) => compileFilters(fleet, speakers, server));
    const clientsOf = remember((server: string) => compileClientRules(fleet.servers.get(server), heard));

    // An empty chain is nobody, and nobody has rights.
    const blockedAt = (server: string): string | undefined =>
      agents.length === 0 ? 'nobody' : routes.find((route) => !route.leadsTo(server))?.agent;

    return {
      seesServer: (server) => blockedAt(server) === undefined,
      decide(server, tool, exposedName, hints) {
        const blocked = blockedAt(server);
        if (blocked !== undefined) return notRouted(blocked);
        const subject = toolSubject(tool);
        const spellings = toolSpellings(server, subject, toolSubject(exposedName));
        for (const filter of filtersOf(server)) {
          const refusal = filter.refuse(spellings);
          if (refusal !== undefined) return refusal;
        }
        const gate = gateOf(server);
        const refusal = gate?.shut ?? gate?.refuse(tool, hints);
        if (refusal !== undefined) return refusal;
        const ruled = stricter(
          decideByRules(rules, (map) => map.find(server, subject)),
          clientsOf(server)(tool),
        );
        if (ruled.effect !== 'allow') return ruled;
        const held = gate?.hold(tool, hints);
        return held === undefined ? ruled : (liftedBy(rules, server, subject) ?? held);
      },
      decideReading(server, subject, formsOf) {
        const blocked = blockedAt(server);
        if (blocked !== undefined) return notRouted(blocked);
        if (subject.length > resourcePrefix.length + maxUriLength) return tooLong;
        const problem = subject.startsWith(resourcePrefix) ? uriProblem(subject) : undefined;
        if (problem !== undefined) return unsafeUri(problem);
        const reading = createReading(server, subject, formsOf);
        for (const filter of filtersOf(server)) {
          const refusal = filter.refuseReading(reading);
          if (refusal !== undefined) return refusal;
        }
        const ruled = decideByRules(rules, (map) => map.findReading(server, reading));
        if (reading.hasTooManyForms && ruled.effect !== 'deny') return unsafeUri('too-many-forms');
        return gateOf(server)?.shut ?? stricter(ruled, clientsOf(server)(subject));
      },
    };
  };
}

const tooLong: Decision = { effect: 'deny', reason: { kind: 'too-long', limit: maxUriLength } };

function unsafeUri(problem: UriProblem): Decision {
  return { effect: 'deny', reason: { kind: 'unsafe-uri', problem } };
}

/** Deny beats ask beats allow; of equals the first is named. */
function stricter(decision: Decision, other: Decision | undefined): Decision {
  if (other === undefined || decision.effect === 'deny') return decision;
  return other.effect === 'deny' || decision.effect === 'allow' ? other : decision;
}

function notRouted(agent: string): Decision {
  return { effect: 'deny', reason: { kind: 'not-routed', agent } };
}

/** Both levels apply: the server's own lists and those of every entry that speaks for somebody in the chain. */
function compileFilters(fleet: Fleet, speakers: readonly Speaker[], server: string): readonly CompiledFilter[] {
  const filters: CompiledFilter[] = [];
  const entry = fleet.servers.get(server);
  if (entry?.kind === 'ready') {
    const { spec } = entry;
    for (const { tools, source } of [spec, ...spec.restrictedBy]) {
      filters.push(compileFilter(tools, server, `server ${server}`, source));
    }
  }
  for (const { entry: agent, title } of speakers) {
    const filter = agent.tools.get(server);
    if (filter !== undefined) filters.push(compileFilter(filter, server, title, agent.source));
  }
  return filters;
}

function remember<V>(compute: (key: string) => V): (key: string) => V {
  const known = new Map<string, V>();
  return (key) => {
    if (!known.has(key)) known.set(key, compute(key));
    // The key was set on the line above; V itself may be undefined.
    return known.get(key) as V;
  };
}
