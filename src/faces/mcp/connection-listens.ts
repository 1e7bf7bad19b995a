import { HubError } from '../../base/index.ts';
import type { Caller } from '../../domain/index.ts';
import type { Hub } from '../../hub/index.ts';
import type { ListName } from './list-changes.ts';
import { ListenSubscription } from './listen-subscription.ts';
import type { Request } from './operations.ts';

const maxOpen = 64;

/** The `subscriptions/listen` of one modern client whose messages all go over one connection. */
export class ConnectionListens {
  readonly #hub: Hub;
  readonly #send: (message: string) => void;
  readonly #open = new Map<string | number, ListenSubscription>();

  constructor(hub: Hub, send: (message: string) => void) {
    this.#hub = hub;
    this.#send = send;
  }

  async open(caller: Caller, request: Request): Promise<void> {
    const { id } = request;
    const subscription = new ListenSubscription(this.#hub, caller, request, this.#send);
    if (this.#open.size >= maxOpen && !this.#open.has(id)) {
      throw new HubError('OVERLOADED', `This connection has ${maxOpen} subscriptions.`, { hint: 'Cancel some first.' });
    }
    this.cancel(id);
    this.#open.set(id, subscription);
    await subscription.open();
  }

  cancel(id: string | number): void {
    this.#open.get(id)?.close();
    this.#open.delete(id);
  }

  announce(list: ListName): void {
    for (const subscription of this.#open.values()) subscription.announce(list);
  }

  close(): void {
    for (const subscription of this.#open.values()) {
      subscription.close();
      subscription.end();
    }
    this.#open.clear();
  }
}
