import type { AgentAccount, AgentAccounts } from '../../base/index.ts';

/** The calls in flight over one connection, or over all connections that share one limit. */
export class CallsInFlight {
  readonly #all: CallsInFlight | undefined;
  readonly #accounts: AgentAccounts | undefined;
  /** Under which agents count their calls to this server. */
  readonly #number: number;
  #count = 0;
  /** How many agents have calls in flight. */
  #agents = 0;
  #isUsed = false;
  #onDrained: (() => void) | undefined;

  /** With `all`, the limit applies to the calls of every connection that was given the same object. */
  constructor(accounts?: AgentAccounts, all?: CallsInFlight) {
    this.#all = all;
    this.#accounts = all === undefined ? accounts : undefined;
    this.#number = this.#accounts?.takeNumber() ?? 0;
  }

  get count(): number {
    return this.#count;
  }

  /** Somebody called something since the last `reset`. */
  get isUsed(): boolean {
    return this.#isUsed;
  }

  /** There is a new connection. */
  reset(): void {
    this.#isUsed = false;
  }

  /** False if the server is full, or if the call would fill more than half of it and the agent has its share. */
  enter(limit: number, account?: AgentAccount): boolean {
    const all = this.#all ?? this;
    if (all.#count >= limit || all.#hasShare(limit, account)) return false;
    all.#add(1, account);
    if (all !== this) this.#count++;
    this.#isUsed = true;
    return true;
  }

  leave(account?: AgentAccount): void {
    const all = this.#all ?? this;
    all.#add(-1, account);
    if (all !== this) this.#count--;
    if (this.#count === 0) this.#onDrained?.();
  }

  drained(): Promise<void> {
    if (this.#count === 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.#onDrained = resolve;
    });
  }

  /** No call will enter any more, and none is in flight. */
  end(): void {
    this.#accounts?.giveNumber(this.#number);
  }

  /** Agents without a call in flight have a share too, one for all of them: the first of them finds room. */
  #hasShare(limit: number, account: AgentAccount | undefined): boolean {
    if (this.#accounts === undefined || account === undefined || (this.#count + 1) * 2 <= limit) return false;
    const own = account.calls[this.#number] ?? 0;
    if (own === 0) return false;
    const shares = this.#agents < this.#accounts.size ? this.#agents + 1 : this.#agents;
    return own >= Math.max(1, Math.floor(limit / shares));
  }

  #add(change: 1 | -1, account: AgentAccount | undefined): void {
    this.#count += change;
    if (this.#accounts === undefined || account === undefined) return;
    const before = account.calls[this.#number] ?? 0;
    account.calls[this.#number] = before + change;
    if (before === 0 || before + change === 0) this.#agents += change;
  }
}
