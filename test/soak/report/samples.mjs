import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { childrenOf, diskUsage, usageOf } from '../world/processes.mjs';

/** Looks at the hub every few seconds: memory, descriptors, children, disk, and how fast it answers. */
export function startSampling(world, { everyMs }) {
  const samples = [];
  const { workspace, hub, tally } = world;
  const began = performance.now();
  // How late this process is itself: a machine that is busy with others slows both.
  const delay = monitorEventLoopDelay({ resolution: 10 });
  delay.enable();

  async function take() {
    const asked = performance.now();
    const healthy = await fetch(`${world.origin}/healthz`, { signal: AbortSignal.timeout(20_000) }).then(
      async (response) => response.ok && (await response.arrayBuffer()) !== undefined,
      () => false,
    );
    const healthMs = performance.now() - asked;
    if (!healthy) tally.lost('health', `/healthz did not answer well within ${Math.round(healthMs)} ms`);
    const records = diskUsage(join(workspace.folder, '.runs'));
    const state = diskUsage(workspace.stateFolder);
    samples.push({
      at: (performance.now() - began) / 1000,
      ...usageOf(hub.pid),
      children: childrenOf(hub.pid).length,
      records,
      state,
      healthMs,
      ownDelayMs: delay.max / 1e6,
      operations: tally.total(),
    });
    delay.reset();
  }

  let busy = Promise.resolve();
  const timer = setInterval(() => {
    busy = busy.then(take).catch((error) => tally.lost('sample', String(error)));
  }, everyMs);
  return {
    samples,
    take,
    async stop() {
      clearInterval(timer);
      await busy;
    },
  };
}
