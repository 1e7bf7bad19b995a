import type { StoredToken } from './token-store.ts';

/** The identity of a token. The same object as long as the token is unchanged. */
export interface TokenIdentity {
  readonly tokenId: string;
  readonly agent: string;
  /** The agent and those that delegated to it, nearest first. */
  readonly chain: readonly string[];
  readonly run: string | undefined;
  /** Of the token and its ancestors, nearest first: `run:ID`, or `token:ID` for one without a run of its own. */
  readonly runKeys: readonly string[];
  /** The earliest expiry of the token and all its ancestors. */
  readonly expires: number;
}

/** Deeper delegation is probably a loop in a program. */
export const maxDelegations = 16;

/** Tokens by hash and by id, without those that have a missing, revoked or circular ancestor. */
export interface TokenIndex {
  readonly byHash: ReadonlyMap<string, TokenIdentity>;
  readonly byId: ReadonlyMap<string, TokenIdentity>;
  readonly rows: readonly StoredToken[];
}

export const emptyTokenIndex: TokenIndex = { byHash: new Map(), byId: new Map(), rows: [] };

export function buildTokenIndex(rows: readonly StoredToken[], previous: TokenIndex): TokenIndex {
  const rowById = new Map(rows.map((row) => [row.id, row]));
  const byHash = new Map<string, TokenIdentity>();
  const byId = new Map<string, TokenIdentity>();
  for (const row of rows) {
    const lineage = lineageOf(row, rowById);
    if (lineage === undefined) continue;
    const identity = keepIfSame(previous.byHash.get(row.hash), identify(row, lineage));
    byHash.set(row.hash, identity);
    byId.set(row.id, identity);
  }
  return { byHash, byId, rows };
}

/** The token and its ancestors. Undefined if one of them is gone. */
function lineageOf(row: StoredToken, rowById: ReadonlyMap<string, StoredToken>): readonly StoredToken[] | undefined {
  const lineage = [row];
  for (let parent = row.parent; parent !== undefined; ) {
    const next = rowById.get(parent);
    // A cycle exceeds the depth limit too.
    if (next === undefined || lineage.length >= maxDelegations) return undefined;
    lineage.push(next);
    parent = next.parent;
  }
  return lineage;
}

function identify(row: StoredToken, lineage: readonly StoredToken[]): TokenIdentity {
  return Object.freeze({
    tokenId: row.id,
    agent: row.agent,
    chain: Object.freeze(lineage.map((each) => each.agent)),
    run: row.run,
    runKeys: Object.freeze(lineage.map(({ id, run }) => (run === undefined ? `token:${id}` : `run:${run}`))),
    expires: Math.min(...lineage.map((each) => each.expires)),
  });
}

function keepIfSame(known: TokenIdentity | undefined, fresh: TokenIdentity): TokenIdentity {
  const same =
    known !== undefined &&
    known.tokenId === fresh.tokenId &&
    known.agent === fresh.agent &&
    known.run === fresh.run &&
    known.expires === fresh.expires &&
    known.chain.length === fresh.chain.length &&
    known.chain.every((agent, index) => agent === fresh.chain[index]) &&
    known.runKeys.join() === fresh.runKeys.join();
  return same ? known : fresh;
}
