import type { OpenStream } from './sessions/http-session.ts';

/** A modern client's open `subscriptions/listen`. */
export interface Subscription extends OpenStream {
  /** The id of the token that opened it. */
  readonly owner: string;
  /** Sends the final result, then closes. */
  end(): void;
}

export interface ListenStreams {
  add(subscription: Subscription): void;
  remove(subscription: Subscription): void;
  all(): Iterable<Subscription>;
  /** Whether this owner may open another one. */
  hasRoom(owner: string): boolean;
  close(): void;
}

/** More than any real client has open at once, few enough to leave room for others. */
const maxPerOwner = 256;

export function createListenStreams(max: number): ListenStreams {
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
