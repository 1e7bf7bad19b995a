import type { AgentAccount } from '../../base/index.ts';
import type { UpdateListener } from '../../upstream/index.ts';

/** Notifies the client of a change of the server's URI, and returns whether it may know. */
type OnUpdate = (ownUri: string) => boolean;

interface SubscriptionOwner {
  /** The same for all subscriptions of the client. */
  readonly client?: unknown;
  readonly account?: AgentAccount | undefined;
}

/** One client's subscription to one resource. It counts for its agent from its creation to its end. */
export class ResourceSubscription implements UpdateListener {
  readonly client: unknown;
  readonly #onUpdate: OnUpdate;
  readonly #account: AgentAccount | undefined;
  #release: (() => void) | undefined;
  #ended = false;

  constructor(onUpdate: OnUpdate, { client, account }: SubscriptionOwner = {}) {
    this.client = client ?? this;
    this.#account = account;
    this.#onUpdate = onUpdate;
    if (account !== undefined) account.subscriptions++;
  }

  updated(ownUri: string): boolean {
    return !this.#ended && this.#onUpdate(ownUri);
  }

  /** For its creator only: how to unsubscribe. */
  begun(release: () => void): void {
    if (this.#ended) release();
    else this.#release = release;
  }

  end(): void {
    if (!this.#ended && this.#account !== undefined) this.#account.subscriptions--;
    this.#ended = true;
    this.#release?.();
    this.#release = undefined;
  }
}
