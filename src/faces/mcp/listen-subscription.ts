import type { ListKind } from '../../calls/index.ts';
import type { Caller } from '../../domain/index.ts';
import type { Hub } from '../../hub/index.ts';
import { noClientCapabilities } from '../../mcp/index.ts';
import { type ClientSubscriptions, createClientSubscriptions } from './client-subscriptions.ts';
import { type ListName, listKindsOf } from './list-changes.ts';
import {
  acknowledgement,
  type ListenFilter,
  listChange,
  listenFilter,
  resourceChange,
  subscriptionEnd,
} from './listen-messages.ts';
import type { Request } from './operations.ts';
import { principalOf } from './request-turn.ts';

/** One `subscriptions/listen` of a modern client, on any transport. */
export class ListenSubscription {
  readonly #caller: Caller;
  readonly #idText: string;
  readonly #lists: ListenFilter['lists'];
  readonly #send: (message: string) => void;
  readonly #resources: ClientSubscriptions;
  /** The resources that the client asked for. Forgotten once it has subscribed, because they may be long. */
  #wanted: ListenFilter['resources'];
  /** Lists that changed before the acknowledgement, which must come first; undefined after it. */
  #early: Set<ListName> | undefined = new Set();
  #closed = false;

  /** Throws HubError for a request that does not name notifications. */
  constructor(hub: Hub, caller: Caller, { idText, params }: Request, send: (message: string) => void) {
    this.#caller = caller;
    this.#idText = idText;
    const { lists, resources } = listenFilter(params);
    this.#lists = lists;
    this.#wanted = resources;
    this.#send = send;
    this.#resources = createClientSubscriptions(hub, (uri) => send(resourceChange(uri, idText)));
  }

  /** The lists whose changes it announces. */
  get listKinds(): readonly ListKind[] {
    return listKindsOf(this.#lists);
  }

  /** Subscribes to the resources, then acknowledges those that were granted. */
  async open(): Promise<void> {
    const resources = this.#wanted;
    this.#wanted = [];
    const granted = await this.#resources.subscribeAll(this.#caller, resources, {
      principal: principalOf(this.#caller),
      session: undefined,
      clientCapabilities: noClientCapabilities,
      takesInputRequired: true,
    });
    // It may have been cancelled meanwhile.
    if (this.#closed) return;
    this.#send(acknowledgement(this.#idText, { lists: this.#lists, resources: granted }));
    const changed = this.#early ?? [];
    this.#early = undefined;
    for (const list of changed) this.announce(list);
  }

  announce(list: ListName): void {
    if (this.#closed || !this.#lists.has(list)) return;
    if (this.#early === undefined) this.#send(listChange(list, this.#idText));
    else this.#early.add(list);
  }

  /** Sends the final result of the subscription. */
  end(): void {
    this.#send(subscriptionEnd(this.#idText));
  }

  close(): void {
    this.#closed = true;
    this.#resources.close();
  }
}
