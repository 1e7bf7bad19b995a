import { expect, test } from 'vitest';
import { verifies } from '../../support/verifies.ts';
import { makeWorkspace, type RunningQm, startQm } from '../qm.fixture.ts';

async function serve(workspace: string): Promise<RunningQm & { readonly url: string }> {
  const hub = startQm(['serve', '--json', '--workspace', workspace]);
  const { url } = JSON.parse(await hub.line()) as { url: string };
  return { ...hub, url };
}

test(verifies('serve:own-port', 'hubs of two workspaces do not collide, and each keeps its port'), async () => {
  const [one, two] = [await makeWorkspace({}), await makeWorkspace({})];
  const first = await serve(one);
  const second = await serve(two);
  expect(second.url).not.toBe(first.url);
  second.signal('SIGTERM');
  await second.ended();
  const again = await serve(two);
  expect(again.url).toBe(second.url);
  for (const hub of [first, again]) {
    hub.signal('SIGTERM');
    expect((await hub.ended()).code).toBe(0);
  }
});
