import { type Clock, HubError } from '../base/index.ts';
import type { AgentBudget, Caller } from '../domain/index.ts';

/** Counts what agents spend of their budgets. Nothing is counted for an agent without one. */
export interface AgentBudgets {
  /** Counts one call for each agent of the chain, or throws RATE_LIMITED and counts nothing. */
  take(caller: Caller): void;
  /** Counts bytes of arguments and results for the caller's run. */
  spend(caller: Caller, bytes: number): void;
}

export interface AgentBudgetsDeps {
  readonly clock: Clock;
  /** The budgets of agents now. Undefined: no agent has one. Counts stay when they change. */
  readonly budgets: () => ((agent: string) => AgentBudget | undefined) | undefined;
}

export function createAgentBudgets({ clock, budgets }: AgentBudgetsDeps): AgentBudgets {
  const spent = new Map<string, SpentBudget>();

  function spentBy(agent: string): SpentBudget {
    let known = spent.get(agent);
    if (known === undefined) {
      known = new SpentBudget();
      spent.set(agent, known);
    }
    return known;
  }

  return {
    take({ chain, run }) {
      const budgetOf = budgets();
      if (budgetOf === undefined) return;
      const now = clock.monotonic();
      const counted: SpentBudget[] = [];
      for (const agent of new Set(chain)) {
        const budget = budgetOf(agent);
        if (budget === undefined) continue;
        const own = spentBy(agent);
        own.check(agent, budget, { run, now });
        counted.push(own);
      }
      for (const own of counted) own.take(run, now);
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

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

/** An agent with more runs at once loses the counts of those that it used longest ago. */
const maxRuns = 1000;

interface SpentInRun {
  calls: number;
  bytes: number;
}

class SpentBudget {
  readonly #minute = new RecentTimes(minuteMs);
  readonly #hour = new RecentTimes(hourMs);
  readonly #runs = new Map<string, SpentInRun>();

  check(agent: string, budget: AgentBudget, { run, now }: { readonly run: string; readonly now: number }): void {
    const { callsPerMinute, callsPerHour, callsPerRun, bytesPerRun } = budget;
    const waitMs = Math.max(this.#minute.waitMs(callsPerMinute, now), this.#hour.waitMs(callsPerHour, now));
    if (waitMs > 0) throw overRate(agent, this.#minute.waitMs(callsPerMinute, now) > 0 ? 'minute' : 'hour', waitMs);
    const { calls, bytes } = this.runOf(run);
    if (callsPerRun !== undefined && calls >= callsPerRun) throw overRun(agent, run, `${callsPerRun} calls`);
    if (bytesPerRun !== undefined && bytes >= bytesPerRun) throw overRun(agent, run, `${bytesPerRun} bytes`);
  }

  take(run: string, now: number): void {
    this.#minute.add(now);
    this.#hour.add(now);
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

/** The times of recent calls, oldest first. Never more than the limit lets through in its time. */
class RecentTimes {
  readonly #spanMs: number;
  #times: number[] = [];
  #first = 0;

  constructor(spanMs: number) {
    this.#spanMs = spanMs;
  }

  /** Until a call fits into the limit again. 0: now. */
  waitMs(limit: number | undefined, now: number): number {
    this.#forget(now);
    if (limit === undefined) {
      this.#times = [];
      this.#first = 0;
      return 0;
    }
    const blocking = this.#times[this.#times.length - limit];
    if (blocking === undefined || this.#times.length - this.#first < limit) return 0;
    return Math.max(1, Math.ceil(blocking + this.#spanMs - now));
  }

  add(now: number): void {
    this.#times.push(now);
  }

  #forget(now: number): void {
    while (this.#first < this.#times.length && (this.#times[this.#first] ?? now) + this.#spanMs <= now) this.#first++;
    if (this.#first * 2 <= this.#times.length) return;
    this.#times = this.#times.slice(this.#first);
    this.#first = 0;
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
