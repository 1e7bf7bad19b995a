import type { Catalog } from '../../domain/index.ts';
import type { UpstreamPool } from '../upstream-pool.ts';
import { createDefinitionReview, type DefinitionReview, type DefinitionReviewDeps } from './definition-review.ts';

/** Reviews what the servers in use list, also what the lockfile withholds: its reader is about to accept it. */
export function reviewPool(
  deps: Omit<DefinitionReviewDeps, 'listed' | 'acknowledged'>,
  pool: Pick<UpstreamPool, 'upstreams'>,
): DefinitionReview {
  return createDefinitionReview({
    ...deps,
    listed: () => listedBy(pool),
    acknowledged: () => acknowledgedIn(pool),
  });
}

function listedBy({ upstreams }: Pick<UpstreamPool, 'upstreams'>): ReadonlyMap<string, Catalog> {
  const known = [...upstreams].map(([server, { control }]) => [server, control.definitions?.listed] as const);
  return new Map(known.flatMap(([server, listed]) => (listed === undefined ? [] : [[server, listed] as const])));
}

function acknowledgedIn({ upstreams }: Pick<UpstreamPool, 'upstreams'>): ReadonlySet<string> {
  return new Set([...upstreams.values()].flatMap(({ control }) => [...(control.spec.lock?.acknowledged.keys() ?? [])]));
}
