import type { ServerAccess } from '../../domain/index.ts';

/** A server is read-only when it is said to be, or when scopes are written and none of them grants writing. */
export function isReadOnly({ readOnly, scopes }: Pick<ServerAccess, 'readOnly' | 'scopes'>): boolean {
  return readOnly || (scopes !== undefined && !scopes.some(grantsWriting));
}

/**
 * Scopes have no common grammar: `write:files`, `vault:write`, `chat:write.public` all occur. So the words between
 * colons and dots are looked at, whatever their order:
 * - a word that changes things grants writing, unless a word that reads stands beside it (`admin:read` reads);
 * - any other word grants nothing. It may be the thing (`files`) or a verb that nobody here knows, and a scope that is
 *   misread as read-only hides a tool, which is noticed and mended, while one misread as writing is not noticed at all;
 * - stars alone (`*`, `*:*`) mean everything.
 */
export function grantsWriting(scope: string): boolean {
  return scope
    .toLowerCase()
    .split(/[\s,]+/)
    .filter((text) => text !== '')
    .some((text) => {
      const words = text.split(/[:.]/);
      if (words.every((word) => word === '*')) return true;
      return words.some((word) => writingWords.has(word)) && !words.some((word) => readingWords.has(word));
    });
}

const readingWords: ReadonlySet<string> = new Set([
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
