import type { CacheSettings } from '../../domain/index.ts';
import { millisecondsAt } from '../servers/read-limits.ts';
import { booleanAt, numberAt, textsAt } from '../texts.ts';
import { child, type SourceNode } from './source-tree.ts';

/** Reads the `cache` of a server: seconds, megabytes, tools, and whether to cache resources. */
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
