import type { AgentPolicy } from '../../governance/index.ts';
import type { AgentView } from './agent-view.ts';

/** One chain of agents, across all changes. */
export interface KnownAgent {
  readonly chain: readonly string[];
  policy: AgentPolicy;
  /** The latest view. The next one keeps the parts that did not change. Undefined after a new configuration. */
  view: AgentView | undefined;
  isStale: boolean;
  /** It was dropped to make room for another one. */
  isForgotten: boolean;
}

const maxAgents = 512;

/** The chains of agents that asked for a view. Beyond a limit, the oldest are dropped. */
export class KnownAgents {
  readonly #policyOf: (chain: readonly string[]) => AgentPolicy;
  readonly #agents = new Map<string, KnownAgent>();
  /** A caller usually passes the same array, so most look-ups need no key. */
  readonly #byIdentity = new WeakMap<readonly string[], KnownAgent>();

  constructor(policyOf: (chain: readonly string[]) => AgentPolicy) {
    this.#policyOf = policyOf;
  }

  of(chain: readonly string[]): KnownAgent {
    let agent = this.#byIdentity.get(chain);
    if (agent === undefined || agent.isForgotten) {
      agent = this.#byNames(chain);
      this.#byIdentity.set(chain, agent);
    }
    return agent;
  }

  all(): Iterable<KnownAgent> {
    return this.#agents.values();
  }

  #byNames(chain: readonly string[]): KnownAgent {
    const key = chain.join('\0');
    const known = this.#agents.get(key);
    if (known !== undefined) return known;
    this.#makeRoom();
    const policy = this.#policyOf(chain);
    const agent: KnownAgent = { chain, policy, view: undefined, isStale: false, isForgotten: false };
    this.#agents.set(key, agent);
    return agent;
  }

  #makeRoom(): void {
    for (const [key, oldest] of this.#agents) {
      if (this.#agents.size < maxAgents) break;
      oldest.isForgotten = true;
      this.#agents.delete(key);
    }
  }
}
