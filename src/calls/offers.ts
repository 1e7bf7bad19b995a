import type { Catalog, Decision } from '../domain/index.ts';
import type { AgentPolicy } from '../governance/index.ts';
import type { UpstreamHandles } from '../upstream/index.ts';
import { type Readings, readingsOf } from './readings.ts';

/** A server that the agent sees, with what it offers and what of that the agent may read. */
export interface Offer {
  readonly server: string;
  readonly handles: UpstreamHandles;
  /** As it was when the view was built. */
  readonly catalog: Catalog;
  readonly readings: Readings;
}

/** Something to read that the agent may know of. */
export interface Found {
  readonly offer: Offer;
  /** The name, URI or template in the server's own words. */
  readonly own: string;
  readonly decision: Decision;
}

export function offersOf(upstreams: ReadonlyMap<string, UpstreamHandles>, policy: AgentPolicy): readonly Offer[] {
  const offers: Offer[] = [];
  for (const [server, handles] of upstreams) {
    const { catalog } = handles.control;
    if (catalog === undefined || !policy.seesServer(server)) continue;
    offers.push({ server, handles, catalog, readings: readingsOf(policy, server, catalog) });
  }
  return offers;
}

/** Denied is the same as not there. */
export function readable(offer: Offer, kind: 'prompt' | 'resource', own: string): Found | undefined {
  const decision = offer.readings.decide(`${kind}:${own}`);
  return decision.effect === 'deny' ? undefined : { offer, own, decision };
}
