// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables in configuration are written so.
import { existsSync } from 'node:fs';
import { mkdir, rename, symlink, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { delimiter, join } from 'node:path';
import { expect, test } from 'vitest';
import { fixturePath } from '../../support/fixture-servers.ts';
import { gatewayForTest } from '../../support/gateway.ts';
import { legacyClient } from '../../support/mcp-clients.ts';
import { layoutOf } from '../../support/state-home.ts';
import { verifies } from '../../support/verifies.ts';
import { makeWorkspace, runQm } from '../qm.fixture.ts';

const fileServer = createRequire(import.meta.url).resolve('@modelcontextprotocol/server-filesystem/dist/index.js');

/** A workspace whose `bin` has another `node`, which leaves a trace. */
async function makeScene(own: object = {}) {
  const echo = { command: 'node', args: [fixturePath('echo-stdio.mjs')], ...own };
  const workspace = await makeWorkspace({ servers: { echo }, agents: { tester: { servers: ['echo'] } } });
  const trace = join(workspace, 'trace');
  await mkdir(join(workspace, 'bin'));
  await writeFile(join(workspace, 'bin/node'), `#!/bin/sh\n: > '${trace}'\nexec '${process.execPath}' "$@"\n`, {
    mode: 0o755,
  });
  const call = (PATH: string) =>
    runQm(['call', 'echo.echo', 'text=hi', '--agent', 'tester', '--log-level', 'warn', '--workspace', workspace], {
      env: { PATH: `${PATH}${delimiter}${process.env.PATH}` },
      cwd: workspace,
    });
  return { workspace, call, ran: () => existsSync(trace) };
}

test(verifies('trust:search-path', 'programs of the workspace on the PATH of the hub are not run'), async () => {
  const { workspace, call, ran } = await makeScene();
  for (const path of [join(workspace, 'bin'), 'bin']) {
    const { code, stderr } = await call(path);
    expect(code, stderr).toBe(0);
    expect(stderr).toContain('hub.path-folders-ignored');
    expect(ran(), path).toBe(false);
  }
});

test(verifies('trust:search-path', 'the PATH of the hub does not return through a variable'), async () => {
  const { workspace, call, ran } = await makeScene({ env: { PATH: '${PATH}' } });
  expect((await call(join(workspace, 'bin'))).code).toBe(0);
  expect(ran()).toBe(false);
});

test('a PATH in the entry of a server counts as it is written', async () => {
  const { call, ran } = await makeScene({ env: { PATH: '${WORKSPACE_ROOT}/bin:${PATH}' } });
  expect((await call('/usr/bin')).code).toBe(0);
  expect(ran()).toBe(true);
});

test(verifies('state:unreachable', 'a folder that became a link to keys is noticed at the next start'), async () => {
  const docs = { command: process.execPath, args: [fileServer, 'docs'], isolation: 'per-session' };
  const gateway = await gatewayForTest({ servers: { docs } }, { cold: true });
  await mkdir(join(gateway.workspace, 'docs'));
  const allowed = async (): Promise<string> => {
    const client = await legacyClient(gateway.url, await gateway.token());
    return JSON.stringify(await client.call('docs_list_allowed_directories'));
  };
  expect(await allowed()).toContain('Allowed directories');
  await rename(join(gateway.workspace, 'docs'), join(gateway.workspace, 'before'));
  await symlink(layoutOf(gateway.workspace).folder, join(gateway.workspace, 'docs'));
  const refused = await allowed();
  expect(refused).toContain('it would reach keys or settings');
  // Agents do not learn where it is.
  expect(refused).not.toContain(layoutOf(gateway.workspace).folder);
});
