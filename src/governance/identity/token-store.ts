/** Agents' names go into tokens, file names and messages. */
export const agentNamePattern: RegExp = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/** A token as it is kept: enough to recognise it, not enough to use it. */
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

/** Where tokens are kept. An implementation checks what it reads; rows of another shape are an error. */
export interface TokenStore {
  load(): Promise<readonly StoredToken[]>;
  /**
   * Replaces all rows by what `edit` makes of the newest ones, with nobody writing in between:
   * otherwise two processes could undo each other's revocations. `edit` may throw to change nothing.
   * Resolves, with the new rows, once they are durable.
   */
  update(edit: (tokens: readonly StoredToken[]) => readonly StoredToken[]): Promise<readonly StoredToken[]>;
}
