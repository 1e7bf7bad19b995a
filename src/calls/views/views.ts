import type { Clock } from '../../base/index.ts';
import { createPolicyCompiler } from '../../governance/index.ts';
import type { UpstreamControl } from '../../upstream/index.ts';
import { createFirstContact, type FirstContact } from '../availability/first-contact.ts';
import { AgentView } from './agent-view.ts';
import { type CatalogIndex, createCatalogIndex } from './catalog-index.ts';
import { type KnownAgent, KnownAgents } from './known-agents.ts';
import { createDecisionIntern } from './list-decisions.ts';
import { nameAll } from './naming/name-all.ts';
import type { View, ViewSource } from './view.ts';

/**
 * The views of all agents, built on first use. A change of one server affects only the views that see it, and they
 * keep the parts that did not change.
 */
export interface Views {
  of(chain: readonly string[]): View;
  /** Asks servers whose tools are not known yet, without waiting. */
  discover(chain: readonly string[]): void;
  /** The same, but waits for their first answer: at most `waitMs`, and once per server. */
  settled(chain: readonly string[], waitMs?: number): Promise<View>;
  /** For a call of that size: waits for the first answer of its server, or of all servers that may have the tool. */
  contacted(chain: readonly string[], owner: UndiscoveredOwner, size: number): Promise<void>;
  /** Configuration or a catalog changed. */
  renew(source: ViewSource): void;
  onRenew(listener: () => void): () => void;
}

/** One server, any of those that are undiscovered, or any of these. */
export type UndiscoveredOwner = UpstreamControl | 'any' | readonly UpstreamControl[];

export interface ViewsDeps {
  readonly clock: Clock;
  /** Compiles the policy of a configuration. Tests pass another one to count decisions. */
  readonly policyCompiler?: typeof createPolicyCompiler;
}

export function createViews(deps: ViewsDeps, source: ViewSource): Views {
  return new AllViews(deps, source);
}

class AllViews implements Views {
  readonly #policyCompiler: typeof createPolicyCompiler;
  readonly #agents: KnownAgents;
  readonly #firstContact: FirstContact;
  readonly #listeners = new Set<() => void>();
  #source: ViewSource;
  #compiler: ReturnType<typeof createPolicyCompiler>;
  #intern = createDecisionIntern();
  #index: CatalogIndex;

  constructor(deps: ViewsDeps, source: ViewSource) {
    this.#policyCompiler = deps.policyCompiler ?? createPolicyCompiler;
    this.#firstContact = createFirstContact(deps);
    this.#source = source;
    this.#compiler = this.#policyCompiler(source.configuration);
    this.#agents = new KnownAgents((chain) => this.#compiler(chain));
    nameAll(source);
    this.#index = createCatalogIndex(source);
  }

  of(chain: readonly string[]): View {
    const agent = this.#agents.of(chain);
    return agent.isStale || agent.view === undefined ? this.#build(agent) : agent.view;
  }

  discover(chain: readonly string[]): void {
    this.#firstContact.begin(this.of(chain).undiscovered);
  }

  async settled(chain: readonly string[], waitMs?: number): Promise<View> {
    const { undiscovered } = this.of(chain);
    if (undiscovered.length > 0) await this.#firstContact.wait(undiscovered, waitMs);
    return this.of(chain);
  }

  contacted(chain: readonly string[], owner: UndiscoveredOwner, size: number): Promise<void> {
    if (isSome(owner)) return this.#firstContact.waitForCall(owner, 'any', size);
    return this.#firstContact.waitForCall(this.of(chain).undiscovered, owner, size);
  }

  renew(source: ViewSource): void {
    if (source.configuration !== this.#source.configuration) this.#adopt(source);
    this.#source = source;
    nameAll(source);
    this.#index = createCatalogIndex(source, this.#index);
    for (const agent of this.#agents.all()) {
      if (!agent.isStale) agent.isStale = agent.view?.keepFor(this.#index) !== true;
    }
    for (const listener of this.#listeners) listener();
  }

  onRenew(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #build(agent: KnownAgent): AgentView {
    const { policy, chain } = agent;
    const parts = { source: this.#source, policy, chain, index: this.#index, intern: this.#intern };
    agent.view = new AgentView(parts, agent.view);
    agent.isStale = false;
    return agent.view;
  }

  /** All decisions are made again, agent by agent, on their next use. */
  #adopt({ configuration }: ViewSource): void {
    this.#compiler = this.#policyCompiler(configuration);
    this.#intern = createDecisionIntern();
    for (const agent of this.#agents.all()) {
      agent.policy = this.#compiler(agent.chain);
      agent.view = undefined;
    }
  }
}

function isSome(owner: UndiscoveredOwner): owner is readonly UpstreamControl[] {
  return Array.isArray(owner);
}
