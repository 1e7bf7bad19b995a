import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { expect, test } from 'vitest';
import { openStage, type Stage, stdioServer } from '../../support/hub.ts';
import { verifies } from '../../support/verifies.ts';
import { eventually } from '../../support/within.ts';

const echo = stdioServer('echo-stdio.mjs');
const file = 'catalog/agents/main/tester/agent.yaml';

async function write(stage: Stage, text: string): Promise<void> {
  await mkdir(dirname(stage.path(file)), { recursive: true });
  await writeFile(stage.path(file), text);
}

/** The servers of which the agent has tools, when they are those that are wanted. */
function waitForServers(stage: Stage, ...wanted: string[]): Promise<true> {
  return eventually(
    async () => {
      const names = await stage.names();
      const servers = new Set(names.map((name) => name.slice(0, name.indexOf('_'))));
      return [...servers].sort().join() === wanted.join() ? true : undefined;
    },
    `tools of ${wanted.join(' and ')} alone`,
  );
}

test(verifies('config:agent-files', 'a running hub follows a file that comes, changes, breaks and goes'), async () => {
  const stage = await openStage();
  await stage.start({ servers: { one: echo, two: echo } }, { watch: true });
  await waitForServers(stage, 'one', 'two');
  await write(stage, 'requires: { mcp: [one] }\n');
  await waitForServers(stage, 'one');
  await write(stage, 'requires: { mcp: [two] }\npolicies: { tools: { two.add: deny } }\n');
  await waitForServers(stage, 'two');
  expect(await stage.names()).not.toContain('two_add');

  await write(stage, 'requires: { mcp: [');
  await expect(stage.hub.reload()).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
  expect(await stage.names()).toContain('two_echo');
  await rm(dirname(stage.path(file)), { recursive: true });
  await eventually(
    () => stage.log.find((line) => line.includes('"reason":"missing"')),
    'the missing file to be noticed',
  );
  stage.clock.advance(60_000);
  expect(await stage.names()).toContain('two_echo');
  expect((await stage.names()).filter((name) => name.startsWith('one_') || name === 'two_add')).toEqual([]);
  await stage.hub.reload();
  await waitForServers(stage, 'one', 'two');
});

test(verifies('config:agent-files', 'no hub starts with one that cannot be understood'), async () => {
  const stage = await openStage();
  for (const text of ['requires: [', 'requires: { mcp: one }\n', 'policies: { tools: { one.add: perhaps } }\n']) {
    await write(stage, text);
    await expect(stage.start({ servers: { one: echo } })).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
  }
});
