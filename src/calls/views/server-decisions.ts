import type { Decision, WithheldReason } from '../../domain/index.ts';
import type { AgentPolicy } from '../../governance/index.ts';
import { type Decider, ListDecisions } from './list-decisions.ts';
import { createReadAccess, type ReadAccess } from './read-access.ts';
import type { ServerCatalog } from './server-catalog.ts';
import type { SharedDefinition } from './server-resources.ts';
import type { SharedTool } from './server-tools.ts';
import type { ListedKind } from './view.ts';

export interface DecisionDeps {
  readonly policy: AgentPolicy;
  readonly intern: (decision: Decision) => Decision;
}

/** One agent's decisions on the lists of one server. */
export class ServerDecisions {
  readonly catalog: ServerCatalog;
  readonly tools: ListDecisions<SharedTool>;
  readonly #deps: DecisionDeps;
  /** Most agents only call tools. */
  #access: ReadAccess | undefined;
  readonly #lists: Partial<Record<ListedKind, ListDecisions<SharedDefinition>>> = {};

  /** Reuses the decisions of an earlier revision for unchanged entries. */
  constructor(deps: DecisionDeps, catalog: ServerCatalog, earlier?: ServerDecisions) {
    const { server, tools, resources } = catalog;
    this.catalog = catalog;
    this.#deps = deps;
    this.tools =
      earlier?.tools.list === tools
        ? earlier.tools
        : new ListDecisions(tools, toolDecider(deps, server), earlier?.tools);
    if (earlier?.catalog.resources.reads === resources.reads) this.#access = earlier.#access;
    for (const kind of kinds) {
      const known = earlier === undefined ? undefined : earlier.#lists[kind];
      if (known !== undefined) this.#lists[kind] = this.#decisionsOn(kind, known);
    }
  }

  /** On `resource:<uri>` and `prompt:<name>`, with the server's own names. */
  get access(): ReadAccess {
    const { server, resources } = this.catalog;
    this.#access ??= createReadAccess(this.#deps.policy, server, resources.reads);
    return this.#access;
  }

  on(kind: ListedKind): ListDecisions<SharedDefinition> {
    let decisions = this.#lists[kind];
    if (decisions === undefined) {
      decisions = this.#decisionsOn(kind, undefined);
      this.#lists[kind] = decisions;
    }
    return decisions;
  }

  #decisionsOn(
    kind: ListedKind,
    earlier: ListDecisions<SharedDefinition> | undefined,
  ): ListDecisions<SharedDefinition> {
    const { access } = this;
    const { intern } = this.#deps;
    const list = this.catalog.resources.lists[kind];
    const prefix = kind === 'prompt' ? 'prompt:' : 'resource:';
    if (earlier?.list === list && earlier.source === access) return earlier;
    // Captures no catalog, or unchanged lists would keep the earlier ones of their server.
    const decide = ({ own }: SharedDefinition): Decision => intern(access.decideListed(`${prefix}${own}`));
    return new ListDecisions(list, { source: access, decide }, earlier);
  }
}

const kinds = ['resource', 'template', 'prompt'] as const;

function toolDecider({ policy, intern }: DecisionDeps, server: string): Decider<SharedTool> {
  return {
    source: policy,
    decide({ own, name, tool, withheld }) {
      const decision = policy.decide(server, own, name, tool.hints);
      return intern(withheld === undefined ? decision : withholding(decision, withheld));
    },
  };
}

/** A tool that rules deny stays hidden for their reason. */
export function withholding(decision: Decision, why: WithheldReason): Decision {
  return decision.effect === 'deny' ? decision : { effect: 'deny', reason: { kind: 'definition-changed', why } };
}
