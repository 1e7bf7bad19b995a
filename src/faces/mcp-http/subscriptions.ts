import type { ListName } from '../mcp/index.ts';
import type { OpenStream } from './http-session.ts';

/** A modern client's open `subscriptions/listen`. */
export interface Subscription extends OpenStream {
  /** The token that opened it. */
  readonly owner: string;
  announce(list: ListName): void;
  /** Says that it is over, then closes. */
  end(): void;
}

export interface Subscriptions {
  add(subscription: Subscription): void;
  remove(subscription: Subscription): void;
  all(): Iterable<Subscription>;
  /** Whether there is room for another one of this owner. */
  hasRoom(owner: string): boolean;
  close(): void;
}

/** More than any real client has open at once, few enough to leave room for others. */
const maxPerOwner = 256;

export function createSubscriptions(max: number): Subscriptions {
  const open = new Set<Subscription>();
  const counts = new Map<string, number>();

  function count({ owner }: Subscription, change: number): void {
    const left = (counts.get(owner) ?? 0) + change;
    if (left === 0) counts.delete(owner);
    else counts.set(owner, left);
  }

  return {
    add(subscription) {
      open.add(subscription);
      count(subscription, 1);
    },
    remove(subscription) {
      if (open.delete(subscription)) count(subscription, -1);
    },
    all: () => open,
    hasRoom: (owner) => open.size < max && (counts.get(owner) ?? 0) < maxPerOwner,
    close() {
      for (const subscription of open) subscription.end();
      open.clear();
      counts.clear();
    },
  };
}
