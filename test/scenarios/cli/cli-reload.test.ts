import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { lsSchema } from '../../../src/faces/cli/json-shapes.ts';
import { verifies } from '../../support/verifies.ts';
import { eventually } from '../../support/within.ts';
import { makeWorkspace, runQm, serveQm } from '../qm.fixture.ts';

test(verifies('edit:reload', 'qm reload makes a hub continue without a missing file'), async () => {
  const workspace = await makeWorkspace('policies: { tools: { "*": deny } }\n');
  expect(await runQm(['reload', '--workspace', workspace])).toMatchObject({ code: 1 });
  const hub = await serveQm(workspace);
  await rm(join(workspace, 'quartermaster.yaml'));
  await eventually(() => hub.stderr().includes('config.retained') || undefined, 'the missing file to be noticed');
  const kept = await runQm(['ls', '--workspace', workspace]);
  expect(kept.stderr).toMatch(
    /Still using the configuration from (?:\d{4}-\d\d-\d\d )?\d\d:\d\d: quartermaster\.yaml is missing\. Put it back/,
  );
  const reloaded = await runQm(['reload', '--json', '--workspace', workspace]);
  expect(lsSchema.parse(JSON.parse(reloaded.stdout)).problems).toMatchObject([
    { message: expect.stringMatching(/^No configuration found/) },
  ]);
  expect((await runQm(['ls', '--workspace', workspace])).stderr).not.toContain('Still using');
  hub.signal('SIGTERM');
  await hub.ended();
});

test(
  verifies('config:weaker-forbids', 'the command line names the file that disables a server, and enables it there'),
  async () => {
    const workspace = await makeWorkspace('servers: { up: { command: node, enabled: true } }\n');
    await mkdir(join(workspace, '.codex'));
    await writeFile(join(workspace, '.codex/config.toml'), '[mcp_servers.up]\nenabled = false\ncommand = "node"\n');
    await writeFile(
      join(workspace, '.mcp.json'),
      '{"mcpServers":{"up":{"command":"node","disabled":true,"disabledTools":["drop"]}}}',
    );
    const qm = (...args: string[]) => runQm([...args, '--workspace', workspace]);
    expect((await qm('ls')).stdout).toMatch(/up +disabled .* Disabled in \.mcp\.json:1\./);
    expect((await qm('explain', 'up.look', '--agent', 'a')).stdout).toContain('disabled (.mcp.json:1)');
    expect(await qm('enable', 'up')).toMatchObject({ code: 0 });
    expect(await readFile(join(workspace, '.mcp.json'), 'utf8')).toContain('"disabled":false');
    expect(await readFile(join(workspace, '.codex/config.toml'), 'utf8')).toContain('enabled = true');
    expect((await qm('explain', 'up.look', '--agent', 'a')).stdout).toContain('is allowed');
    expect((await qm('explain', 'up.drop', '--agent', 'a')).stdout).toContain(
      'exclude list of server up (.mcp.json:1)',
    );
  },
);
