import { type Decision, decideOn } from '../../domain/index.ts';
import { stricter } from './chain-rights.ts';
import type { AgentPolicy } from './compile-policy.ts';

/** The rights that two policies both give. */
export function bothPolicies(one: AgentPolicy, other: AgentPolicy): AgentPolicy {
  return {
    seesServer: (server) => one.seesServer(server) && other.seesServer(server),
    decide: (server, tool, exposedName, hints) =>
      bothDecisions(one.decide(server, tool, exposedName, hints), other.decide(server, tool, exposedName, hints)),
    decideRead: (server, subject, origin, budget) =>
      bothDecisions(one.decideRead(server, subject, origin, budget), other.decideRead(server, subject, origin, budget)),
  };
}

function bothDecisions(one: Decision, other: Decision): Decision {
  const { effect, reason } = stricter(one, other);
  if (effect === 'deny' || (one.condition === undefined && other.condition === undefined)) return { effect, reason };
  return { effect, reason, condition: (call) => stricter(decideOn(one, call), decideOn(other, call)) };
}
