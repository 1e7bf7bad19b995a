import {
  createIsolatedConnections,
  type IsolatedConnections,
  type IsolatedConnectionsDeps,
} from './connecting/isolated-connections.ts';
import type { UpstreamDeps, UpstreamHandles, UpstreamOptions } from './handles.ts';
import { CallsInFlight } from './state/calls-in-flight.ts';
import { ServerControl } from './upstream-control.ts';
import { ServerDispatch } from './upstream-dispatch.ts';
import { createUpstreamParts } from './upstream-parts.ts';

/** One server with all its connections. */
export function createUpstream(deps: UpstreamDeps, options: UpstreamOptions): UpstreamHandles {
  return handlesOf(deps, options, isolatedOf(deps, options));
}

/** An isolated connection is an upstream of its own, without lists. */
function isolatedOf(deps: UpstreamDeps, { spec, client }: UpstreamOptions): IsolatedConnections | undefined {
  const { isolation } = spec;
  if (isolation === 'shared') return undefined;
  const allCalls = new CallsInFlight(deps.accounts);
  const open: IsolatedConnectionsDeps['open'] = (own, terms) =>
    handlesOf({ ...deps, onServerChange: () => {} }, { spec: own, client, terms, allCalls }, undefined);
  return createIsolatedConnections({ clock: deps.clock, open, onRetired: () => allCalls.end() }, spec, isolation);
}

function handlesOf(
  deps: UpstreamDeps,
  options: UpstreamOptions,
  isolated: IsolatedConnections | undefined,
): UpstreamHandles {
  const parts = createUpstreamParts(deps, options, isolated);
  return { control: new ServerControl(parts), dispatch: new ServerDispatch(parts) };
}
