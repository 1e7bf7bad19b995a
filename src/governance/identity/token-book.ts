import type { Clock, RandomBytes } from '../../base/index.ts';
import { createAgentToken, hashToken, looksLikeAgentToken } from './agent-token.ts';
import type { TokenIdentity, TokenIndex } from './token-index.ts';
import { checkOrder, rowFor, type TokenRequest, tokenUnknown } from './token-order.ts';
import { TokenRows } from './token-rows.ts';
import type { StoredToken, TokenStore } from './token-store.ts';

/** Every agent token of a workspace. */
export interface TokenBook {
  /** Once per request: one hash, one lookup, no waiting. */
  authenticate(token: string): TokenIdentity | undefined;
  /** Whether the token of this id is still valid. */
  isValid(id: string): boolean;
  /** When the next valid token expires. */
  nextExpiry(): number | undefined;
  /** `origin` says how the order came, for the record of it. */
  issue(order: TokenRequest, origin?: string): Promise<IssuedToken>;
  list(): readonly TokenSummary[];
  /** Ends the token and every token delegated from it, at once. */
  revoke(id: string, origin?: string): Promise<void>;
  /** Reads changes of other processes. */
  reload(): Promise<void>;
  /** Writes tokens again that the store lost with its folder. Tokens that it has stay unchanged. */
  putBack(): Promise<void>;
  /** Called after each change of any token. Listeners must not throw. The result ends the subscription. */
  onTokensChange(listener: () => void): () => void;
}

export interface IssuedToken {
  /** Returned only here. Afterwards only its hash exists. */
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
  /** Records the change, then makes it. Without it, changes are made and not recorded. */
  readonly recorded?: RecordedChange | undefined;
}

export type RecordedChange = (change: TokenChangeFacts, make: () => Promise<void>) => Promise<void>;

export interface TokenChangeFacts {
  readonly kind: 'issued' | 'revoked';
  readonly id: string;
  readonly agent: string;
  /** The token that delegates, and the run; for a new token. */
  readonly parent?: string | undefined;
  readonly run?: string | undefined;
  readonly origin?: string | undefined;
}

/** Expired tokens stay listed this long. Then they are dropped, so that the store stays small. */
const keepExpiredMs = 86_400_000;

export async function createTokenBook({
  clock,
  random,
  store,
  recorded = unrecorded,
}: TokenBookDeps): Promise<TokenBook> {
  const rows = await TokenRows.load(store);
  return {
    authenticate(token) {
      if (!looksLikeAgentToken(token)) return undefined;
      const identity = rows.index.byHash.get(hashToken(token));
      return identity !== undefined && identity.expires > clock.now() ? identity : undefined;
    },
    isValid: (id) => (rows.index.byId.get(id)?.expires ?? 0) > clock.now(),
    nextExpiry: () => nextExpiry(rows.index, clock.now()),
    async issue(order, origin) {
      const ttlMs = checkOrder(order);
      const { agent, parent, run } = order;
      const { id, token } = createAgentToken(random);
      const store = (): Promise<void> =>
        rows.change((stored) => {
          // The stored document takes whole milliseconds only.
          const created = Math.floor(clock.now());
          const row = rowFor(order, { id, hash: hashToken(token), created, expires: created + ttlMs }, stored);
          return { added: [row], removed: longExpired(stored, created) };
        });
      await recorded({ kind: 'issued', id, agent, parent, run, origin }, store);
      return { token, id, agent: order.agent, expires: rows.index.byId.get(id)?.expires ?? clock.now() };
    },
    list: () => rows.index.rows.map((row) => summarise(row, rows.index.byId.get(row.id), clock.now())),
    async revoke(id, origin) {
      const found = (await rows.stored()).find((row) => row.id === id);
      if (found === undefined) throw tokenUnknown(id);
      const remove = (): Promise<void> =>
        rows.change((stored) => {
          if (!stored.some((row) => row.id === id)) throw tokenUnknown(id);
          return { added: [], removed: familyOf(stored, id) };
        });
      await recorded({ kind: 'revoked', id, agent: found.agent, origin }, remove);
    },
    reload: () => rows.reload(),
    putBack: () => rows.change((stored) => ({ added: missingFrom(stored, rows.index.rows), removed: [] })),
    onTokensChange: (listener) => rows.onTokensChange(listener),
  };
}

const unrecorded: RecordedChange = (_change, make) => make();

function nextExpiry({ byId }: TokenIndex, now: number): number | undefined {
  let next: number | undefined;
  for (const { expires } of byId.values()) {
    if (expires > now && (next === undefined || expires < next)) next = expires;
  }
  return next;
}

function missingFrom(stored: readonly StoredToken[], rows: readonly StoredToken[]): readonly StoredToken[] {
  return rows.filter(({ id }) => stored.every((row) => row.id !== id));
}

function longExpired(stored: readonly StoredToken[], now: number): readonly string[] {
  return stored.filter(({ expires }) => expires <= now - keepExpiredMs).map(({ id }) => id);
}

/** The ids of the token and of all tokens that were delegated from it. */
function familyOf(stored: readonly StoredToken[], id: string): readonly string[] {
  const gone = new Set([id]);
  let size = 0;
  // Rows are in no particular order, so it repeats until a pass finds nothing new.
  while (size !== gone.size) {
    size = gone.size;
    for (const row of stored) if (row.parent !== undefined && gone.has(row.parent)) gone.add(row.id);
  }
  return [...gone];
}

function summarise(row: StoredToken, identity: TokenIdentity | undefined, now: number): TokenSummary {
  const expires = identity?.expires ?? row.expires;
  const { id, agent, created, parent, run } = row;
  const state = identity === undefined ? 'orphaned' : expires <= now ? 'expired' : 'valid';
  return { id, agent, created, expires, parent, run, state };
}
