/**
 * A hub from the build that tells how much memory it uses: `node --expose-gc heap-hub.mjs WORKSPACE`. Prints
 * {"url","token"} once it listens (the endpoint, and a token for the agent "tester"); then answers each line of input
 * with {"heap","sessions"}: bytes after collection, and the client sessions that are open. A line that is a number lets
 * so many milliseconds pass at once; the line "old" is answered with {"old"}, the bytes of what has grown old, at once.
 */
import { createInterface } from 'node:readline';
import { getHeapSpaceStatistics } from 'node:v8';
import { createSystemClock, systemRandom } from '../../dist/base/index.js';
import { openGateway } from '../../dist/faces/gateway/index.js';
import { createTokenBook } from '../../dist/governance/index.js';
import { createHub } from '../../dist/hub/index.js';
import { createFileTokenStore, workspaceLayout } from '../../dist/storage/index.js';

const workspace = process.argv[2];
const silent = () => {};
const real = createSystemClock();
let ahead = 0;
const deps = {
  clock: { ...real, monotonic: () => real.monotonic() + ahead },
  random: systemRandom,
  logger: { debug: silent, info: silent, warn: silent, error: silent },
};
const hub = await createHub(
  { ...deps, env: process.env },
  { workspace, stateHome: process.env.QM_STATE_DIR, watch: false, trust: 'all' },
);
const tokens = await createTokenBook({
  ...deps,
  store: createFileTokenStore(workspaceLayout(workspace, process.env.QM_STATE_DIR), deps),
});
const gateway = await openGateway(
  { ...deps, hub, tokens, api: (_, response) => response.writeHead(404).end() },
  { host: '127.0.0.1', port: 0 },
);
await hub.discover();
const { token } = await tokens.issue({ agent: 'tester' });
console.log(JSON.stringify({ url: `${gateway.url}/mcp`, token }));

for await (const line of createInterface({ input: process.stdin })) {
  if (line === 'old') {
    const { space_used_size } = getHeapSpaceStatistics().find(({ space_name }) => space_name === 'old_space');
    console.log(JSON.stringify({ old: space_used_size }));
    continue;
  }
  ahead += Number(line);
  // Finalizers and weak references settle over several rounds.
  for (let round = 0; round < 5; round++) {
    globalThis.gc();
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  const { heapUsed, external } = process.memoryUsage();
  console.log(JSON.stringify({ heap: heapUsed + external, sessions: gateway.clientSessions }));
}
await Promise.all([gateway.close(), hub.stop()]);
