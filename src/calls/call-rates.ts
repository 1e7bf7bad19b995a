import type { AgentAccount, Clock } from '../base/index.ts';

/** Counts the calls to each server in the last minute, over all agents. */
export interface CallRates {
  /** Counts one call to the server. Returns 0, or the milliseconds until the next call of the agent is allowed. */
  take(server: string, perMinute: number, account?: AgentAccount): number;
}

export function createCallRates({ clock }: { readonly clock: Clock }): CallRates {
  const minutes = new Map<string, SlidingMinute>();
  return {
    take(server, perMinute, account) {
      let minute = minutes.get(server);
      if (minute?.perMinute !== perMinute) {
        minute = new SlidingMinute(perMinute);
        minutes.set(server, minute);
      }
      return minute.take(clock.monotonic(), account);
    },
  };
}

/** A call of the last minute. */
interface TakenPlace {
  readonly at: number;
  readonly agent: AgentMinute | undefined;
}

/** The calls of one agent in the last minute. */
interface AgentMinute {
  readonly account: AgentAccount;
  /** Oldest first, from `first` on. */
  places: TakenPlace[];
  first: number;
}

/**
 * A ring with the last calls, one place for each call that a minute allows. The next place always holds the oldest
 * call, so no period of a minute has more calls than places.
 *
 * Once half of the places are taken, each agent that called in the last minute has its share of them. An agent whose call
 * was refused counts too, so that it gets its share as the calls of others grow old. One that calls alone has all places.
 */
class SlidingMinute {
  readonly perMinute: number;
  readonly #places: number;
  readonly #windowMs: number;
  /** Grows with the first calls to the number of places. */
  readonly #ring: TakenPlace[] = [];
  readonly #agents = new Map<AgentAccount, AgentMinute>();
  /** Agents without a call in the last minute, by the time of their last refused one; oldest first. */
  readonly #refused = new Map<AgentAccount, number>();
  #next = 0;
  /** The oldest call that is not a minute old, and the number of such calls. */
  #oldest = 0;
  #live = 0;

  constructor(perMinute: number) {
    this.perMinute = perMinute;
    this.#places = Math.max(1, Math.floor(perMinute));
    this.#windowMs = windowMsOf(perMinute);
  }

  take(now: number, account: AgentAccount | undefined): number {
    this.#forget(now);
    const blocking = this.#live >= this.#places ? this.#ring[this.#oldest] : this.#oldestOfShare(account);
    if (blocking !== undefined) {
      this.#noteRefused(now, account);
      return Math.ceil(blocking.at + this.#windowMs - now);
    }
    const agent = account === undefined ? undefined : this.#minuteOf(account);
    const place = { at: now, agent };
    agent?.places.push(place);
    this.#ring[this.#next] = place;
    this.#next = (this.#next + 1) % this.#places;
    this.#live++;
    return 0;
  }

  #noteRefused(now: number, account: AgentAccount | undefined): void {
    if (account === undefined || this.#agents.has(account)) return;
    this.#refused.delete(account);
    this.#refused.set(account, now);
  }

  /** Drops the calls that are a minute old. Each call is dropped once. */
  #forget(now: number): void {
    for (const [account, at] of this.#refused) {
      if (at + this.#windowMs > now) break;
      this.#refused.delete(account);
    }
    while (this.#live > 0) {
      const place = this.#ring[this.#oldest];
      if (place === undefined || Math.ceil(place.at + this.#windowMs - now) > 0) return;
      if (place.agent !== undefined) this.#forgetFirst(place.agent);
      this.#oldest = (this.#oldest + 1) % this.#places;
      this.#live--;
    }
  }

  #forgetFirst(agent: AgentMinute): void {
    agent.first++;
    if (agent.first === agent.places.length) this.#agents.delete(agent.account);
    else if (agent.first * 2 > agent.places.length) {
      agent.places = agent.places.slice(agent.first);
      agent.first = 0;
    }
  }

  /** The call whose end gives the agent a place again, if it has its share. */
  #oldestOfShare(account: AgentAccount | undefined): TakenPlace | undefined {
    if (account === undefined || (this.#live + 1) * 2 <= this.#places) return undefined;
    const agent = this.#agents.get(account);
    if (agent === undefined) return undefined;
    const shares = this.#agents.size + this.#refused.size;
    const own = agent.places.length - agent.first;
    return own >= Math.max(1, Math.floor(this.#places / shares)) ? agent.places[agent.first] : undefined;
  }

  #minuteOf(account: AgentAccount): AgentMinute {
    const known = this.#agents.get(account);
    if (known !== undefined) return known;
    const agent = { account, places: [], first: 0 };
    this.#agents.set(account, agent);
    this.#refused.delete(account);
    return agent;
  }
}

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;

/** Half a call per minute means one in two minutes. The wait is at most a day. */
function windowMsOf(perMinute: number): number {
  return perMinute >= 1 ? minuteMs : Math.min(minuteMs / perMinute, dayMs);
}
