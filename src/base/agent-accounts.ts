import { ByteBudget } from './byte-budget.ts';

/** What one agent currently uses of the hub, across all its tokens and sessions. */
export interface AgentAccount {
  /** The agents that share the hub. */
  readonly agents: { readonly size: number };
  /** Large arguments of its calls in flight. */
  readonly arguments: ByteBudget;
  /** Large responses that the hub is reading from servers for the agent. */
  readonly bytes: ByteBudget;
  /** Of these, the part of each server that has sent some. */
  readonly incoming: Map<string, IncomingResponses>;
  /** Its subscriptions to resources, of all its clients together. */
  subscriptions: number;
  /** Its calls in flight, by server number. An array is cheaper per call than a map. */
  readonly calls: number[];
}

/** The large responses that the hub is reading from one server for one agent. */
export interface IncomingResponses {
  readonly bytes: ByteBudget;
  /** The response that may go on beyond the budget. */
  first: unknown;
}

/** The accounts of all agents of a hub. */
export interface AgentAccounts {
  /** Returns the same object for the same agent of a project, as long as anything refers to it. */
  of(agent: string, project?: string): AgentAccount;
  /** Keeps the accounts of these agents of a project for a reason, and no longer those that it kept before for it. */
  keep(project: string, agents: Iterable<string>, reason: KeepReason): void;
  /** The number of agents that share the hub: those that are kept and those that have callers. */
  readonly size: number;
  /** Returns a number under which the calls of a server are counted. Give it back when none of them are in flight. */
  takeNumber(): number;
  giveNumber(number: number): void;
}

/** Why an agent has a share before its first call: the configuration names it, or it has a token. */
export type KeepReason = 'configured' | 'token';

/** Smaller messages are not counted: there are many of them, and they leave the hub at once. */
export const countedBytes: number = 64 * 1024;

export interface AgentAccountsOptions {
  readonly bytesPerAgent: number;
  readonly bytesInAll: number;
}

export function createAgentAccounts({ bytesPerAgent, bytesInAll }: AgentAccountsOptions): AgentAccounts {
  // Weak: an agent per run would leave an account behind each, and an account that nobody refers to counts nothing.
  const accounts = new Map<string, WeakRef<AgentAccount>>();
  const kept = new Map<string, readonly AgentAccount[]>();
  const gone = new FinalizationRegistry((key: string) => {
    if (accounts.get(key)?.deref() === undefined) accounts.delete(key);
  });
  const all = new ByteBudget(bytesInAll);
  const allArguments = new ByteBudget(Math.floor(bytesInAll / 2));
  const free: number[] = [];
  let next = 0;

  function of(agent: string, project = ''): AgentAccount {
    const key = `${project}\n${agent}`;
    const known = accounts.get(key)?.deref();
    if (known !== undefined) return known;
    const bytes = new ByteBudget(bytesPerAgent, all);
    const own = Math.floor(bytesPerAgent / 2);
    const args = new ByteBudget(own, allArguments, Math.floor(own / 16));
    const account: AgentAccount = {
      agents: accounts,
      arguments: args,
      bytes,
      incoming: new Map(),
      subscriptions: 0,
      calls: [],
    };
    accounts.set(key, new WeakRef(account));
    gone.register(account, key);
    return account;
  }

  return {
    of,
    keep: (project, agents, reason) =>
      void kept.set(
        `${reason} ${project}`,
        [...agents].map((agent) => of(agent, project)),
      ),
    get size() {
      return accounts.size;
    },
    takeNumber: () => free.pop() ?? next++,
    giveNumber: (number) => void free.push(number),
  };
}

/** Limits in proportion to the heap, so that a hub with little memory holds little. */
export function accountsForHeap(heapBytes: number): AgentAccountsOptions {
  const bytesPerAgent = Math.min(128 * mega, Math.floor(heapBytes / 8));
  return { bytesPerAgent, bytesInAll: Math.min(512 * mega, bytesPerAgent * 4) };
}

const mega = 1024 * 1024;
