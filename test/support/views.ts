import type { View } from '../../src/calls/index.ts';
import type { Hub } from '../../src/hub/index.ts';

/** What an agent sees now. */
export function viewOf(hub: Hub, agent = 'tester'): View {
  return hub.viewOf(hub.callerFor({ agent }));
}

/** The same after its servers have answered for the first time, or `waitMs` have passed. */
export async function settledView(hub: Hub, agent = 'tester', waitMs?: number): Promise<View> {
  await hub.lists.discovered(hub.callerFor({ agent }), waitMs);
  return viewOf(hub, agent);
}
