import type { Views } from '../../calls/index.ts';
import type { Catalog } from '../../domain/index.ts';
import type { UpstreamPool } from '../upstream-pool.ts';
import { createDefinitionReview, type DefinitionReview, type DefinitionReviewDeps } from './definition-review.ts';

/** Reviews what the servers in use list, also what the lockfile withholds: its reader is about to accept it. */
export function reviewPool(
  deps: Omit<DefinitionReviewDeps, 'listed' | 'acknowledged'>,
  pool: Pick<UpstreamPool, 'upstreams'>,
  views: Views,
): DefinitionReview {
  const review = createDefinitionReview({
    ...deps,
    listed: () => listedBy(pool),
    acknowledged: () => acknowledgedIn(pool),
  });
  views.onRenew(review.noteChange);
  // The stored lists are read before somebody asks.
  review.noteChange();
  return review;
}

function listedBy({ upstreams }: Pick<UpstreamPool, 'upstreams'>): ReadonlyMap<string, Catalog> {
  const known = [...upstreams].map(([server, { control }]) => [server, control.definitions?.listed] as const);
  return new Map(known.flatMap(([server, listed]) => (listed === undefined ? [] : [[server, listed] as const])));
}

function acknowledgedIn({ upstreams }: Pick<UpstreamPool, 'upstreams'>): ReadonlySet<string> {
  return new Set([...upstreams.values()].flatMap(({ control }) => [...(control.spec.lock?.acknowledged.keys() ?? [])]));
}
