import { type Clock, HubError, type RandomBytes } from '../../base/index.ts';
import { runIdPattern } from '../../domain/index.ts';
import { createAgentToken, hashToken, looksLikeAgentToken } from './agent-token.ts';
import {
  buildTokenIndex,
  emptyTokenIndex,
  maxDelegations,
  type TokenIdentity,
  type TokenIndex,
} from './token-index.ts';
import { agentNamePattern, type StoredToken, type TokenStore } from './token-store.ts';
import { maxTtlMs } from './ttl.ts';

/** Every agent token of a workspace. */
export interface TokenBook {
  /** Once per request: one hash, one lookup, no waiting. */
  authenticate(token: string): TokenIdentity | undefined;
  /** Whether the token of this id still stands for somebody. */
  isValid(id: string): boolean;
  /** When the next of the valid ones expires. */
  nextExpiry(): number | undefined;
  issue(order: TokenOrder): Promise<IssuedToken>;
  list(): readonly TokenSummary[];
  /** Ends the token and every token delegated from it, at once. */
  revoke(id: string): Promise<void>;
  /** Takes up what other processes wrote. */
  reload(): Promise<void>;
  /** Writes back what the store has lost with its folder; tokens that it has stay as they are. */
  putBack(): Promise<void>;
  /** After each change of any token. Listeners must not throw; the answer ends the subscription. */
  onChange(listener: () => void): () => void;
}

export interface TokenOrder {
  readonly agent: string;
  /** 30 days unless given; never beyond the parent's. */
  readonly ttlMs?: number | undefined;
  readonly run?: string | undefined;
  /** The id of the token that delegates. */
  readonly parent?: string | undefined;
}

export interface IssuedToken {
  /** Only here; afterwards only its hash exists. */
  readonly token: string;
  readonly id: string;
  readonly agent: string;
  readonly expires: number;
}

export interface TokenSummary {
  readonly id: string;
  readonly agent: string;
  readonly created: number;
  readonly expires: number;
  readonly parent: string | undefined;
  readonly run: string | undefined;
  readonly state: 'valid' | 'expired' | 'orphaned';
}

export interface TokenBookDeps {
  readonly clock: Clock;
  readonly random: RandomBytes;
  readonly store: TokenStore;
}

const dayMs = 86_400_000;
const defaultTtlMs = 30 * dayMs;
/** Expired tokens stay listed this long, then they are dropped, so that the store stays small. */
const keepExpiredMs = dayMs;

export async function createTokenBook({ clock, random, store }: TokenBookDeps): Promise<TokenBook> {
  let index = buildTokenIndex(await store.load(), emptyTokenIndex);
  const listeners = new Set<() => void>();
  const inTurn = createTurns();

  function adopt(rows: readonly StoredToken[]): void {
    const previous = index;
    index = buildTokenIndex(rows, previous);
    if (differs(previous, index)) for (const listener of [...listeners]) listener();
  }

  return {
    authenticate(token) {
      if (!looksLikeAgentToken(token)) return undefined;
      const identity = index.byHash.get(hashToken(token));
      return identity !== undefined && identity.expires > clock.now() ? identity : undefined;
    },

    isValid: (id) => (index.byId.get(id)?.expires ?? 0) > clock.now(),

    nextExpiry() {
      const now = clock.now();
      let next: number | undefined;
      for (const { expires } of index.byId.values()) {
        if (expires > now && (next === undefined || expires < next)) next = expires;
      }
      return next;
    },

    issue: (order) =>
      inTurn(async () => {
        const ttlMs = checkOrder(order);
        const { id, token } = createAgentToken(random);
        const now = clock.now();
        const rows = await store.update((stored) => {
          const row = fileOrder(order, { id, hash: hashToken(token), created: now, expires: now + ttlMs }, stored);
          return [...stored.filter((each) => each.expires > now - keepExpiredMs), row];
        });
        adopt(rows);
        return { token, id, agent: order.agent, expires: index.byId.get(id)?.expires ?? now };
      }),

    list: () => index.rows.map((row) => summarise(row, index.byId.get(row.id), clock.now())),

    revoke: (id) =>
      inTurn(async () => {
        adopt(
          await store.update((stored) => {
            if (!stored.some((row) => row.id === id)) throw tokenUnknown(id);
            return withoutFamily(stored, id);
          }),
        );
      }),

    reload: () => inTurn(async () => adopt(await store.load())),

    putBack: () =>
      inTurn(async () => {
        const mine = index.rows;
        const missing = (stored: readonly StoredToken[]): StoredToken[] =>
          mine.filter(({ id }) => stored.every((row) => row.id !== id));
        adopt(await store.update((stored) => [...stored, ...missing(stored)]));
      }),

    onChange(listener) {
      listeners.add(listener);
      return () => {
        listeners.delete(listener);
      };
    },
  };
}

/** One after the other: a slow load must not put back what a later change removed. */
function createTurns(): <T>(task: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (task) => {
    const turn = last.then(task, task);
    last = turn;
    return turn;
  };
}

/** Validated here as well as at the edge: these names end up in files and rights. */
function checkOrder(order: TokenOrder): number {
  if (!agentNamePattern.test(order.agent)) {
    throw new HubError('USAGE', `"${order.agent.slice(0, 80)}" cannot be the name of an agent.`, {
      hint: 'Use 1 to 64 letters, digits, dots, dashes and underscores, starting with a letter or digit.',
    });
  }
  if (order.run !== undefined && !runIdPattern.test(order.run)) {
    throw new HubError('USAGE', `"${order.run.slice(0, 80)}" cannot be a run id.`, {
      hint: 'Use 1 to 64 letters, digits, dashes and underscores.',
    });
  }
  const ttlMs = order.ttlMs ?? defaultTtlMs;
  if (!Number.isSafeInteger(ttlMs) || ttlMs <= 0 || ttlMs > maxTtlMs) {
    throw new HubError('USAGE', 'The lifetime of a token must be between one millisecond and 3650 days.');
  }
  return ttlMs;
}

/** The row to store; a child's expiry is cut to its parent's. */
function fileOrder(
  order: TokenOrder,
  fresh: Pick<StoredToken, 'id' | 'hash' | 'created' | 'expires'>,
  stored: readonly StoredToken[],
): StoredToken {
  const { agent, parent, run } = order;
  if (stored.some((row) => row.id === fresh.id)) throw new HubError('INTERNAL', 'Two tokens drew the same id.');
  const limit = parent === undefined ? fresh.expires : parentOf(parent, stored, fresh.created).expires;
  return {
    ...fresh,
    agent,
    expires: Math.min(fresh.expires, limit),
    ...(parent === undefined ? {} : { parent }),
    ...(run === undefined ? {} : { run }),
  };
}

function parentOf(id: string, stored: readonly StoredToken[], now: number): TokenIdentity {
  const parent = buildTokenIndex(stored, emptyTokenIndex).byId.get(id);
  if (parent === undefined || parent.expires <= now) throw tokenUnknown(id);
  if (parent.chain.length >= maxDelegations) {
    throw new HubError('USAGE', `Token ${id} is already the ${maxDelegations}th in a row of delegations.`, {
      hint: 'Issue the token from one nearer to the start.',
    });
  }
  return parent;
}

function tokenUnknown(id: string): HubError {
  return new HubError('TOKEN_UNKNOWN', `No valid token has the id "${id.slice(0, 40)}".`, {
    hint: 'Run `qm token ls` to see the tokens there are.',
  });
}

function withoutFamily(stored: readonly StoredToken[], id: string): readonly StoredToken[] {
  const gone = new Set([id]);
  let size = 0;
  // Rows are in no particular order, so a pass may free the way for the next one.
  while (size !== gone.size) {
    size = gone.size;
    for (const row of stored) if (row.parent !== undefined && gone.has(row.parent)) gone.add(row.id);
  }
  return stored.filter((row) => !gone.has(row.id));
}

function differs(a: TokenIndex, b: TokenIndex): boolean {
  if (a.byHash.size !== b.byHash.size || a.rows.length !== b.rows.length) return true;
  for (const [hash, identity] of b.byHash) if (a.byHash.get(hash) !== identity) return true;
  return false;
}

function summarise(row: StoredToken, identity: TokenIdentity | undefined, now: number): TokenSummary {
  const expires = identity?.expires ?? row.expires;
  const { id, agent, created, parent, run } = row;
  const state = identity === undefined ? 'orphaned' : expires <= now ? 'expired' : 'valid';
  return { id, agent, created, expires, parent, run, state };
}
