import { type Clock, HubError } from '../base/index.ts';
import type { AgentBudget, Caller, SharedRate } from '../domain/index.ts';
import { RecentCalls } from './recent-times.ts';
import { createSpentRates } from './spent-rates.ts';

/** Counts what agents spend of their budgets. Nothing is counted for an agent without one. */
export interface AgentBudgets {
  /** Counts one call for each agent of the chain and for the server, or throws RATE_LIMITED and counts nothing. */
  take(caller: Caller, server: string): void;
  /** Counts bytes of arguments and results for the caller's run. */
  spend(caller: Caller, bytes: number): void;
}

export interface AgentBudgetsDeps {
  readonly clock: Clock;
  /** The budgets of agents now. Undefined: no agent has one. Counts stay when they change. */
  readonly budgets: () => ((agent: string) => AgentBudget | undefined) | undefined;
  /** The limits that all agents share now. */
  readonly rates: () => readonly SharedRate[];
}

export function createAgentBudgets({ clock, budgets, rates }: AgentBudgetsDeps): AgentBudgets {
  const spent = new Map<string, SpentBudget>();
  const spentRates = createSpentRates();

  function spentBy(agent: string): SpentBudget {
    let known = spent.get(agent);
    if (known === undefined) {
      known = new SpentBudget();
      spent.set(agent, known);
    }
    return known;
  }

  return {
    take({ chain, run }, server) {
      const [budgetOf, shared] = [budgets(), rates()];
      if (budgetOf === undefined && shared.length === 0) return;
      const now = clock.monotonic();
      const countShared = spentRates.check(shared, server, now);
      const counted: SpentBudget[] = [];
      for (const agent of new Set(chain)) {
        const budget = budgetOf?.(agent);
        if (budget === undefined) continue;
        const own = spentBy(agent);
        own.check(agent, budget, { run, now });
        counted.push(own);
      }
      for (const own of counted) own.take(run, now);
      countShared();
    },
    spend({ chain, run }, bytes) {
      const budgetOf = budgets();
      if (budgetOf === undefined) return;
      for (const agent of new Set(chain)) {
        if (budgetOf(agent)?.bytesPerRun !== undefined) spentBy(agent).runOf(run).bytes += bytes;
      }
    },
  };
}

/** An agent with more runs at once loses the counts of those that it used longest ago. */
const maxRuns = 1000;

interface SpentInRun {
  calls: number;
  bytes: number;
}

class SpentBudget {
  readonly #recent = new RecentCalls();
  readonly #runs = new Map<string, SpentInRun>();

  check(agent: string, budget: AgentBudget, { run, now }: { readonly run: string; readonly now: number }): void {
    const { callsPerRun, bytesPerRun } = budget;
    const wait = this.#recent.wait(budget, now);
    if (wait !== undefined) throw overRate(agent, wait.span, wait.waitMs);
    const { calls, bytes } = this.runOf(run);
    if (callsPerRun !== undefined && calls >= callsPerRun) throw overRun(agent, run, `${callsPerRun} calls`);
    if (bytesPerRun !== undefined && bytes >= bytesPerRun) throw overRun(agent, run, `${bytesPerRun} bytes`);
  }

  take(run: string, now: number): void {
    this.#recent.add(now);
    this.runOf(run).calls++;
  }

  runOf(run: string): SpentInRun {
    const known = this.#runs.get(run) ?? { calls: 0, bytes: 0 };
    this.#runs.delete(run);
    this.#runs.set(run, known);
    const [oldest] = this.#runs.keys();
    if (this.#runs.size > maxRuns && oldest !== undefined) this.#runs.delete(oldest);
    return known;
  }
}

function overRate(agent: string, span: 'minute' | 'hour', waitMs: number): HubError {
  const wait = Math.ceil(waitMs / 1000);
  return new HubError(
    'RATE_LIMITED',
    `Agent "${agent}" is at the rate limit of its budget per ${span}. Try again in ${wait} s.`,
    {
      hint: `Nothing was sent. The limit is budget.calls_per_${span} of the agent.`,
      details: { retryAfterMs: waitMs },
    },
  );
}

function overRun(agent: string, run: string, limit: string): HubError {
  return new HubError('RATE_LIMITED', `Agent "${agent}" is at the rate limit of ${limit} in run ${run}.`, {
    hint: 'Nothing was sent, and waiting does not help. An operator can raise the budget of the agent.',
  });
}
