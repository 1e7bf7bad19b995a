import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { lsSchema } from '../../src/faces/cli/json-shapes.ts';
import { verifies } from '../support/verifies.ts';
import { eventually } from '../support/within.ts';
import { makeWorkspace, runQm, serveQm } from './qm.fixture.ts';

test(verifies('edit:reload', 'a hub goes on without a file that is gone when it is told to'), async () => {
  const workspace = await makeWorkspace('policies: { tools: { "*": deny } }\n');
  expect(await runQm(['reload', '--workspace', workspace])).toMatchObject({ code: 2 });
  const hub = await serveQm(workspace);
  await rm(join(workspace, 'quartermaster.yaml'));
  await eventually(() => hub.stderr().includes('config.held') || undefined, 'the missing file to be noticed');
  const kept = await runQm(['ls', '--workspace', workspace]);
  expect(kept.stderr).toMatch(
    /Still using the configuration of \d\d:\d\d: quartermaster\.yaml is missing\. Put it back/,
  );
  const reloaded = await runQm(['reload', '--json', '--workspace', workspace]);
  expect(lsSchema.parse(JSON.parse(reloaded.stdout)).problems).toMatchObject([
    { message: expect.stringMatching(/^No configuration found/) },
  ]);
  expect((await runQm(['ls', '--workspace', workspace])).stderr).not.toContain('Still using');
  hub.signal('SIGTERM');
  await hub.ended();
});
