import type { Decision, DecisionReason, SourceRef } from '../../domain/index.ts';

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
      return `the include list of ${reason.by} does not name it (${place(reason.source)})`;
    case 'excluded':
      return `the exclude list of ${reason.by} names it (${place(reason.source)})`;
    case 'rule': {
      const owner = reason.agent === undefined ? 'for every agent' : `of agent ${reason.agent}`;
      return `rule "${reason.pattern}" ${owner} decides (${place(reason.source)})`;
    }
  }
}

function place(source: SourceRef): string {
  return source.line === undefined ? source.file : `${source.file}:${source.line}`;
}
