import { buildTokenIndex, emptyTokenIndex, type TokenIndex } from './token-index.ts';
import type { StoredToken, TokenChange, TokenStore } from './token-store.ts';

/** The rows of the store as this process knows them. Changes and reloads run one after another. */
export class TokenRows {
  readonly #store: TokenStore;
  readonly #listeners = new Set<() => void>();
  readonly #inTurn = createSemaphore();
  #index: TokenIndex;

  private constructor(store: TokenStore, rows: readonly StoredToken[]) {
    this.#store = store;
    this.#index = buildTokenIndex(rows, emptyTokenIndex);
  }

  static async load(store: TokenStore): Promise<TokenRows> {
    return new TokenRows(store, await store.load());
  }

  get index(): TokenIndex {
    return this.#index;
  }

  /** Resolves once the change is durable. `decide` gets the newest rows and may throw to change nothing. */
  change(decide: (stored: readonly StoredToken[]) => TokenChange): Promise<void> {
    return this.#inTurn(async () => this.#adopt(await this.#store.change(decide)));
  }

  /** The rows of the store now. This process goes on with those that it knows. */
  stored(): Promise<readonly StoredToken[]> {
    return this.#inTurn(() => this.#store.load());
  }

  reload(): Promise<void> {
    return this.#inTurn(async () => this.#adopt(await this.#store.load()));
  }

  onTokensChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  #adopt(rows: readonly StoredToken[]): void {
    const previous = this.#index;
    this.#index = buildTokenIndex(rows, previous);
    if (differs(previous, this.#index)) for (const listener of [...this.#listeners]) listener();
  }
}

/** Runs tasks in order, because a slow load must not bring back rows that a later change removed. */
function createSemaphore(): <T>(task: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (task) => {
    const turn = last.then(task, task);
    last = turn;
    return turn;
  };
}

function differs(a: TokenIndex, b: TokenIndex): boolean {
  if (a.byHash.size !== b.byHash.size || a.rows.length !== b.rows.length) return true;
  for (const [hash, identity] of b.byHash) if (a.byHash.get(hash) !== identity) return true;
  return false;
}
