/** Agents' names go into tokens, file names and messages. */
export const agentNamePattern: RegExp = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/** A stored token: enough to recognise it, not enough to use it. */
export interface StoredToken {
  readonly id: string;
  readonly agent: string;
  /** SHA-256 of the whole token, in hex. */
  readonly hash: string;
  readonly created: number;
  readonly expires: number;
  /** The id of the token that delegated. */
  readonly parent?: string;
  readonly run?: string;
}

/** Rows that come and go together. */
export interface TokenChange {
  readonly added: readonly StoredToken[];
  /** Ids. */
  readonly removed: readonly string[];
}

/** Stores tokens. An implementation validates the rows that it reads. */
export interface TokenStore {
  load(): Promise<readonly StoredToken[]>;
  /**
   * Adds and removes the rows that `decide` names after a look at the newest ones, with nobody writing in between:
   * otherwise two processes could undo each other's revocations. `decide` may throw to change nothing.
   * Resolves, with all rows, once the change is durable.
   */
  change(decide: (stored: readonly StoredToken[]) => TokenChange): Promise<readonly StoredToken[]>;
  /** Calls the listener after another process changed rows. Without the store there are none. */
  onTokensChange(listener: () => void): () => void;
}
