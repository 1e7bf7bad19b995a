import { HubError } from '../../base/index.ts';
import type { Caller } from '../../domain/index.ts';
import type { Hub } from '../../hub/index.ts';
import { askableNothing } from '../../mcp/index.ts';
import type { ListName } from './lists.ts';
import type { Request } from './operations.ts';
import { principalOf } from './rounds.ts';
import { acknowledgement, listChange, listenFilter, resourceChange, subscriptionEnd } from './subscription.ts';
import { type WatchedResources, watchResources } from './watched-resources.ts';

const maxOpen = 64;

interface Standing {
  readonly idText: string;
  readonly lists: ReadonlySet<ListName>;
  readonly watched: WatchedResources;
}

/** The `subscriptions/listen` of one modern client whose messages all go over one connection. */
export class StandingSubscriptions {
  readonly #hub: Hub;
  readonly #send: (message: string) => void;
  readonly #open = new Map<string | number, Standing>();

  constructor(hub: Hub, send: (message: string) => void) {
    this.#hub = hub;
    this.#send = send;
  }

  async open(caller: Caller, { id, idText, params }: Request): Promise<void> {
    const { lists, resources } = listenFilter(params);
    if (this.#open.size >= maxOpen && !this.#open.has(id)) {
      throw new HubError('OVERLOADED', `This connection has ${maxOpen} subscriptions.`, { hint: 'Cancel some first.' });
    }
    const watched = watchResources(this.#hub, (uri) => this.#send(resourceChange(uri, idText)));
    this.cancel(id);
    this.#open.set(id, { idText, lists, watched });
    const client = { principal: principalOf(caller), session: undefined, askable: askableNothing, takesRounds: true };
    const granted = await watched.watchAll(caller, resources, client);
    // It may have been cancelled meanwhile.
    if (this.#open.get(id)?.watched !== watched) watched.close();
    else this.#send(acknowledgement(idText, { lists, resources: granted }));
  }

  cancel(id: string | number): void {
    this.#open.get(id)?.watched.close();
    this.#open.delete(id);
  }

  announce(list: ListName): void {
    for (const { idText, lists } of this.#open.values()) if (lists.has(list)) this.#send(listChange(list, idText));
  }

  close(): void {
    for (const { idText, watched } of this.#open.values()) {
      watched.close();
      this.#send(subscriptionEnd(idText));
    }
    this.#open.clear();
  }
}
