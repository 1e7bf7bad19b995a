import type { ServerAccess } from './configuration.ts';

/** A server is read-only if it is marked so, or if it has scopes and none of them grants writing. */
export function isReadOnly({ readOnly, scopes }: Pick<ServerAccess, 'readOnly' | 'scopes'>): boolean {
  return readOnly || (scopes !== undefined && !scopes.some(grantsWriting));
}

/**
 * Scopes have no common grammar: `write:files`, `vault:write` and `chat:write.public` all occur. So this checks the
 * words between colons and dots, in any order:
 * - A word that changes things grants writing, unless a word that reads is next to it (`admin:read` reads).
 * - Any other word grants nothing. It may be an object (`files`) or an unknown verb. A scope misread as read-only hides
 *   a tool, which is noticed and fixed. A scope misread as writing goes unnoticed.
 * - Stars alone (`*`, `*:*`) mean everything.
 */
export function grantsWriting(scope: string): boolean {
  return scope
    .toLowerCase()
    .split(/[\s,]+/)
    .filter((text) => text !== '')
    .some((text) => {
      const words = text.split(/[:.]/);
      if (words.every((word) => word === '*')) return true;
      return words.some((word) => writingWords.has(word)) && !words.some((word) => readWords.has(word));
    });
}

const readWords: ReadonlySet<string> = new Set([
  'read',
  'readonly',
  'read-only',
  'read_only',
  'select',
  'describe',
  'list',
  'get',
  'search',
  'find',
  'query',
  'view',
  'watch',
]);

const writingWords: ReadonlySet<string> = new Set([
  'write',
  'readwrite',
  'read-write',
  'read_write',
  'rw',
  'edit',
  'modify',
  'update',
  'upsert',
  'patch',
  'put',
  'set',
  'create',
  'add',
  'append',
  'insert',
  'import',
  'upload',
  'delete',
  'remove',
  'drop',
  'truncate',
  'purge',
  'move',
  'rename',
  'execute',
  'exec',
  'run',
  'invoke',
  'trigger',
  'deploy',
  'publish',
  'send',
  'post',
  'push',
  'commit',
  'merge',
  'approve',
  'admin',
  'manage',
  'maintain',
  'owner',
]);
