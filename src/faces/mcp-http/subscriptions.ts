import type { ListName } from '../mcp/index.ts';
import type { OpenStream } from './http-session.ts';

/** A modern client's open `subscriptions/listen`. */
export interface Subscription extends OpenStream {
  announce(list: ListName): void;
  /** Says that it is over, then closes. */
  end(): void;
}

export interface Subscriptions {
  add(subscription: Subscription): void;
  remove(subscription: Subscription): void;
  all(): Iterable<Subscription>;
  readonly full: boolean;
  close(): void;
}

export function createSubscriptions(max: number): Subscriptions {
  const open = new Set<Subscription>();
  return {
    add: (subscription) => open.add(subscription),
    remove: (subscription) => open.delete(subscription),
    all: () => open,
    get full() {
      return open.size >= max;
    },
    close() {
      for (const subscription of open) subscription.end();
      open.clear();
    },
  };
}
