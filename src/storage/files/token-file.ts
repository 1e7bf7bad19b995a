import { type Stats, unwatchFile, watchFile } from 'node:fs';
import { z } from 'zod';
import { type Clock, createSystemClock, type RandomBytes, systemRandom, type Timer } from '../../base/index.ts';
import type { StoredToken, TokenChange, TokenStore } from '../../governance/index.ts';
import { fileError } from './file-error.ts';
import { type DocumentRules, readJsonDocument } from './json-document.ts';
import type { WorkspaceLayout } from './layout.ts';
import { withLock } from './lock.ts';
import { removeFile, replaceFile } from './write-file.ts';

/** The tokens of a file workspace: hashes only, in one file. */
export function createFileTokenStore(
  layout: WorkspaceLayout,
  options: { readonly clock?: Clock; readonly random?: RandomBytes } = {},
): TokenStore {
  const { random = systemRandom } = options;

  const load = async (): Promise<readonly StoredToken[]> =>
    (await readJsonDocument(layout, layout.tokens, tokenDocument))?.tokens ?? [];

  return {
    load,
    change: (decide) =>
      withLock(
        layout,
        'tokens',
        async () => {
          const stored = await load();
          const tokens = applied(stored, decide(stored));
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
    onTokensChange: (listener) => watchTokens(layout, options.clock ?? createSystemClock(), listener),
  };
}

function applied(stored: readonly StoredToken[], { added, removed }: TokenChange): readonly StoredToken[] {
  const gone = new Set(removed);
  return [...stored.filter(({ id }) => !gone.has(id)), ...added];
}

/** How often other processes' changes are looked for. */
const lookMs = 1000;
/** A folder is deleted file by file: only a moment later is it clear whether this was the only one. */
const settleMs = 500;

function watchTokens(layout: WorkspaceLayout, clock: Clock, listener: () => void): () => void {
  let timer: Timer | undefined;
  const onTokensChange = ({ mtimeMs }: Stats): void => {
    timer?.cancel();
    if (mtimeMs === 0) timer = clock.setTimer(settleMs, listener);
    else listener();
  };
  watchFile(layout.tokens, { persistent: false, interval: lookMs }, onTokensChange);
  return () => {
    timer?.cancel();
    unwatchFile(layout.tokens, onTokensChange);
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
  fix: 'Restore the file, or delete it and issue every agent a new token.',
};

/** How many tokens a file holds. */
export async function countTokens(layout: WorkspaceLayout, file: string): Promise<number> {
  return (await readJsonDocument(layout, file, tokenDocument))?.tokens.length ?? 0;
}

/** The tokens of an earlier version that wait to be confirmed. A file server could have written them. */
export async function listEarlierTokens(
  layout: WorkspaceLayout,
): Promise<readonly Pick<StoredToken, 'id' | 'agent' | 'created' | 'expires'>[]> {
  const earlier = await readJsonDocument(layout, layout.earlierTokens, tokenDocument);
  return (earlier?.tokens ?? []).map(({ id, agent, created, expires }) => ({ id, agent, created, expires }));
}

/** Makes tokens that an earlier version issued valid, and removes the file in which they waited. */
export async function adoptEarlierTokens(
  layout: WorkspaceLayout,
  options: { readonly clock?: Clock; readonly random?: RandomBytes },
): Promise<void> {
  const earlier = await readJsonDocument(layout, layout.earlierTokens, tokenDocument);
  if (earlier === undefined) return;
  await createFileTokenStore(layout, options).change((stored) => {
    const known = new Set(stored.map(({ id }) => id));
    return { added: earlier.tokens.filter(({ id }) => !known.has(id)), removed: [] };
  });
  removeFile(layout, layout.earlierTokens);
}
