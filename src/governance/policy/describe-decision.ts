import { type Decision, type DecisionReason, placeOf } from '../../domain/index.ts';

/** One sentence for the operator; an agent that is denied a hidden tool never reads it. */
export function describeDecision(decision: Decision, server: string, tool: string): string {
  return `${server}.${tool} ${verdictOf[decision.effect]}: ${because(decision.reason, server)}.`;
}

const verdictOf: Readonly<Record<Decision['effect'], string>> = {
  allow: 'is allowed',
  ask: 'needs approval',
  deny: 'is denied',
};

function because(reason: DecisionReason, server: string): string {
  switch (reason.kind) {
    case 'default':
      return 'no rule speaks of it, and what is routed is allowed by default';
    case 'not-routed':
      return `agent ${reason.agent} has no server ${server} (not routed to it, not shared, switched off or unknown)`;
    case 'not-included':
      return `the include list of ${reason.by} does not name it (${placeOf(reason.source)})`;
    case 'excluded':
      return `the exclude list of ${reason.by} names it (${placeOf(reason.source)})`;
    case 'read-only':
      return `server ${reason.server} is read-only, and the tool is not known to only read (${placeOf(reason.source)})`;
    case 'write-approval':
      return `server ${reason.server} wants a human for every tool that may write (${placeOf(reason.source)})`;
    case 'rule': {
      const owner = reason.agent === undefined ? 'for every agent' : `of agent ${reason.agent}`;
      return `rule "${reason.pattern}" ${owner} decides (${placeOf(reason.source)})`;
    }
  }
}
