import type { Dispatcher } from 'undici';
import { type AgentAccount, ByteBudget, type IncomingResponses } from '../../base/index.ts';

/**
 * Counts a large response against the byte budget of its agent, and pauses it while the budget is used up. Each server
 * has a part of the budget, so one that never ends its responses does not stop those of others. One response of each
 * server may go on, because half-read responses would otherwise wait for each other.
 */
export class ResponseFlow {
  readonly #account: AgentAccount;
  readonly #server: string;
  readonly #incoming: IncomingResponses;
  readonly #controller: Dispatcher.DispatchController;
  #counted = 0;
  #stopWaiting: (() => void) | undefined;

  constructor(account: AgentAccount, server: string, controller: Dispatcher.DispatchController) {
    this.#account = account;
    this.#server = server;
    this.#incoming = incomingFrom(account, server);
    this.#controller = controller;
  }

  /** The number of bytes of the response that are held now. */
  keep(bytes: number): void {
    this.#count(bytes - this.#counted);
    if (this.#mayGoOn()) return;
    this.#controller.pause();
    this.#stopWaiting ??= this.#incoming.bytes.onRelease(() => this.#resume());
  }

  /** The response holds no bytes any more. */
  end(): void {
    this.#stopWaiting?.();
    if (this.#incoming.first === this) this.#incoming.first = undefined;
    this.#count(-this.#counted);
    if (this.#incoming.bytes.used === 0 && this.#account.incoming.get(this.#server) === this.#incoming) {
      this.#account.incoming.delete(this.#server);
    }
    if (this.#controller.paused) resumeLater(this.#controller);
  }

  #resume(): void {
    if (this.#controller.paused && this.#mayGoOn()) resumeLater(this.#controller);
  }

  #mayGoOn(): boolean {
    if (!this.#incoming.bytes.isFull) return true;
    this.#incoming.first ??= this;
    return this.#incoming.first === this;
  }

  #count(change: number): void {
    this.#counted += change;
    if (change > 0) this.#incoming.bytes.add(change);
    else if (change < 0) this.#incoming.bytes.release(-change);
  }
}

/** Room is often made while undici parses another response, and its parser must not be entered twice. */
function resumeLater(controller: Dispatcher.DispatchController): void {
  setImmediate(() => {
    if (controller.paused && !controller.aborted) controller.resume();
  });
}

function incomingFrom(account: AgentAccount, server: string): IncomingResponses {
  const known = account.incoming.get(server);
  if (known !== undefined) return known;
  const incoming = { bytes: new ByteBudget(account.bytes.limit, account.bytes), first: undefined };
  account.incoming.set(server, incoming);
  return incoming;
}
