import { z } from 'zod';
import { type Clock, type RandomBytes, systemRandom } from '../../base/index.ts';
import type { StoredToken, TokenStore } from '../../governance/index.ts';
import { fileError } from './file-error.ts';
import { type DocumentRules, readJsonDocument } from './json-document.ts';
import type { WorkspaceLayout } from './layout.ts';
import { withLock } from './lock.ts';
import { replaceFile } from './write-file.ts';

/** The tokens of a file workspace: hashes only, one small file. */
export function createFileTokenStore(
  layout: WorkspaceLayout,
  options: { readonly clock?: Clock; readonly random?: RandomBytes } = {},
): TokenStore {
  const { random = systemRandom } = options;

  const load = async (): Promise<readonly StoredToken[]> =>
    (await readJsonDocument(layout, layout.tokens, tokenDocument))?.tokens ?? [];

  return {
    load,
    update: (edit) =>
      withLock(
        layout,
        'tokens',
        async () => {
          const tokens = edit(await load());
          try {
            await replaceFile(
              layout,
              layout.tokens,
              `${JSON.stringify({ version: 1, tokens }, undefined, 2)}\n`,
              random,
            );
          } catch (error) {
            throw fileError(error, 'write', layout.tokens);
          }
          return tokens;
        },
        options,
      ),
  };
}

const idSchema = z.string().regex(/^[0-9a-z]{10}$/);

const tokenSchema: z.ZodType<StoredToken> = z.strictObject({
  id: idSchema,
  agent: z.string().min(1).max(64),
  hash: z.string().regex(/^[0-9a-f]{64}$/),
  created: z.int().nonnegative(),
  expires: z.int().nonnegative(),
  parent: idSchema.exactOptional(),
  run: z.string().min(1).max(64).exactOptional(),
});

const tokenDocument: DocumentRules<{ readonly tokens: readonly StoredToken[] }> = {
  schema: z.strictObject({ version: z.literal(1), tokens: z.array(tokenSchema) }),
  maxBytes: 64 * 1024 * 1024,
  trusted: true,
  fix: 'Restore the file, or delete it and issue every agent a new token.',
};
