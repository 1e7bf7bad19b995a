import type { CacheSettings } from '../domain/index.ts';
import { millisecondsAt } from './read-limits.ts';
import { child, type SourceNode } from './source-tree.ts';
import { booleanAt, numberAt, textsAt } from './texts.ts';

/** The `cache` of a server: seconds, megabytes, tools, and whether resources are kept too. */
export function readCache(node: SourceNode): CacheSettings | undefined {
  const cache = child(node, 'cache');
  const ttlMs = millisecondsAt(cache, 'ttl_s');
  if (ttlMs === undefined) return undefined;
  return {
    ttlMs,
    maxBytes: Math.round((numberAt(cache, 'max_mb') ?? 16) * 1_048_576),
    tools: textsAt(cache, 'tools'),
    resources: booleanAt(cache, 'resources') ?? true,
  };
}
