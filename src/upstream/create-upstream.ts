import type { UpstreamDeps, UpstreamHandles, UpstreamOptions } from './handles.ts';
import { createSeats, type Seats, type SeatsDeps } from './seats.ts';
import { Upstream } from './upstream.ts';

/** One server, and whatever connections its callers need. */
export function createUpstream(deps: UpstreamDeps, options: UpstreamOptions): UpstreamHandles {
  const upstream = new Upstream(deps, options, seatsOf(deps, options));
  return { control: upstream, dispatch: upstream };
}

/** A connection of one caller is an upstream of its own, without lists. */
function seatsOf(deps: UpstreamDeps, { spec, client }: UpstreamOptions): Seats | undefined {
  const { isolation } = spec;
  if (isolation === 'shared') return undefined;
  const open: SeatsDeps['open'] = (own, seat) => {
    const underWay = (): number => seats.loads().reduce((sum, load) => sum + load.underWay, 0);
    const upstream = new Upstream({ ...deps, onChange: () => {} }, { spec: own, client, seat, underWay }, undefined);
    return { control: upstream, dispatch: upstream };
  };
  const seats = createSeats({ clock: deps.clock, open }, spec, isolation);
  return seats;
}
