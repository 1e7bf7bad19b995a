import { mkdir, realpath, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { fixturePath } from '../../support/fixture-servers.ts';
import { gatewayForTest, type RunningGateway } from '../../support/gateway.ts';
import { type Era, type MatrixClient, openMatrixClient } from '../../support/matrix-clients.ts';
import { layoutOf } from '../../support/state-home.ts';
import { verifies } from '../../support/verifies.ts';

const fileServer = createRequire(import.meta.url).resolve('@modelcontextprotocol/server-filesystem/dist/index.js');

async function connect(gateway: RunningGateway, era: Era, root: string): Promise<MatrixClient> {
  const endpoint = { url: gateway.url, token: await gateway.token() };
  const client = await openMatrixClient('ann', era, endpoint, pathToFileURL(root).href);
  onTestFinished(() => client.close());
  return client;
}

function asker(era: Era, roots?: 'client'): object {
  const args = [fixturePath('matrix.mjs'), '--era', era, '--label', 'm', '--stdio'];
  return { command: process.execPath, args, isolation: 'per-session', ...(roots === undefined ? {} : { roots }) };
}

test(verifies('roots:configured', 'a client cannot move a file server to the state of the hub'), async () => {
  const files = { command: process.execPath, args: [fileServer, '.'], isolation: 'per-session' };
  const gateway = await gatewayForTest({ servers: { files } });
  const { folder } = layoutOf(gateway.workspace);
  const client = await connect(gateway, 'legacy', folder);
  for (let round = 0; round < 3; round++) {
    await client.client.sendRootsListChanged();
    await client.say('files_search_files', { path: '.', pattern: 'none' });
    const allowed = await client.say('files_list_allowed_directories', {});
    expect(allowed).toBe(`Allowed directories:\n${await realpath(gateway.workspace)}`);
  }
  await expect(client.say('files_read_text_file', { path: join(folder, 'state-key') })).rejects.toThrow(
    'Access denied',
  );
  expect(client.records.questions).toEqual([]);
});

const pairs = (['legacy', 'modern'] as const).flatMap((clients) =>
  (['legacy', 'modern'] as const).map((servers) => [clients, servers] as const),
);

test.each(pairs)(
  verifies('roots:configured', 'a %s client passes folders of the workspace to a %s server that may have them'),
  async (clients, servers) => {
    const gateway = await gatewayForTest({ servers: { m: asker(servers, 'client') } });
    const docs = join(gateway.workspace, 'docs');
    await mkdir(docs);
    const inside = await connect(gateway, clients, docs);
    expect(await inside.say('m_ask_roots', { nonce: 'n' })).toBe(`m:n:${pathToFileURL(docs).href}`);
    const link = join(gateway.workspace, 'link');
    await symlink(layoutOf(gateway.workspace).folder, link);
    for (const root of [link, '/', layoutOf(gateway.workspace).folder]) {
      const outside = await connect(gateway, clients, root);
      expect(await outside.say('m_ask_roots', { nonce: 'n' }), root).toBe('m:n:');
    }
    expect(gateway.log.filter(({ event }) => event === 'roots.dropped')).toMatchObject([{ fields: { server: 'm' } }]);
  },
);

test.each(pairs)(
  verifies('roots:configured', 'a %s client is not asked for roots by a %s server that gets none'),
  async (clients, servers) => {
    const gateway = await gatewayForTest({ servers: { m: asker(servers) } });
    const client = await connect(gateway, clients, gateway.workspace);
    await expect(client.say('m_ask_roots', { nonce: 'n' })).rejects.toThrow();
    expect(client.records.questions).toEqual([]);
  },
);
