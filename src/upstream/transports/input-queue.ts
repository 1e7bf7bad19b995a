import { type AgentAccount, countedBytes } from '../../base/index.ts';
import { queueFull, queueShareFull } from '../failures.ts';
import type { FailedReply } from '../transport.ts';

/** The most bytes that the hub holds for a server that does not read. */
export const maxQueuedBytes = 16 * 1024 * 1024;

/**
 * The agents' shares of the bytes that wait for a server. While the server reads, hardly any do, and nothing is
 * counted. Over half of the limit, an agent that has its share waiting gets no more in. Agents with nothing in the
 * queue have a share too, one for all of them.
 */
export class InputQueue {
  readonly #server: string;
  /** Undefined until a server leaves much unread. */
  #waiting: Map<AgentAccount, number> | undefined;

  constructor(server: string) {
    this.#server = server;
  }

  /** The refusal of a message, if the queue has no room for it. */
  refusal(queued: number, bytes: number, account: AgentAccount | undefined): FailedReply | undefined {
    if (queued > maxQueuedBytes) return queueFull(this.#server, queued);
    if (account === undefined || (queued + bytes) * 2 <= maxQueuedBytes) return undefined;
    const own = this.#waiting?.get(account) ?? 0;
    const agents = this.#waiting?.size ?? 0;
    const shares = agents < account.agents.size ? agents + 1 : agents;
    if (own === 0 || own + bytes <= maxQueuedBytes / shares) return undefined;
    return queueShareFull(this.#server, own);
  }

  /** Counts a message that has to wait. Returns false if it need not, which is the usual case. */
  add(queued: number, bytes: number, account: AgentAccount | undefined): account is AgentAccount {
    if (account === undefined || queued + bytes < countedBytes) return false;
    this.#waiting ??= new Map();
    this.#waiting.set(account, (this.#waiting.get(account) ?? 0) + bytes);
    return true;
  }

  /** The message is on its way, or dropped. */
  remove(bytes: number, account: AgentAccount): void {
    const left = (this.#waiting?.get(account) ?? 0) - bytes;
    if (left > 0) this.#waiting?.set(account, left);
    else this.#waiting?.delete(account);
  }
}
