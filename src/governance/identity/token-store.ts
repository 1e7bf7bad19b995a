import { z } from 'zod';
import { runIdPattern } from '../../domain/index.ts';

/** Agents' names go into tokens, file names and messages. */
export const agentNamePattern: RegExp = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

export const tokenIdPattern: RegExp = /^[0-9a-z]{10}$/;

/** A token as it is kept: enough to recognise it, not enough to use it. */
export const storedTokenSchema = z.strictObject({
  id: z.string().regex(tokenIdPattern),
  agent: z.string().regex(agentNamePattern),
  hash: z
    .string()
    .regex(/^[0-9a-f]{64}$/)
    .describe('SHA-256 of the whole token'),
  created: z.int().nonnegative(),
  expires: z.int().nonnegative(),
  parent: z.string().regex(tokenIdPattern).exactOptional(),
  run: z.string().regex(runIdPattern).exactOptional(),
});

export type StoredToken = Readonly<z.infer<typeof storedTokenSchema>>;

export interface TokenStore {
  load(): Promise<readonly StoredToken[]>;
  /**
   * Replaces all rows by what `edit` makes of the newest ones, with nobody writing in between:
   * otherwise two processes could undo each other's revocations. `edit` may throw to change nothing.
   * Resolves, with the new rows, once they are durable.
   */
  update(edit: (tokens: readonly StoredToken[]) => readonly StoredToken[]): Promise<readonly StoredToken[]>;
}
