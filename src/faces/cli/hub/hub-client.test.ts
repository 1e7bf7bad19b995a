import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { createHubClient, type HubClient } from './hub-client.ts';

async function clientOf(answer: RequestListener): Promise<HubClient> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const { port } = server.address() as AddressInfo; // a TCP server has one
  return createHubClient({ url: `http://127.0.0.1:${port}`, pid: 4711, adminToken: 'qma_x' });
}

test('errors of the hub arrive as if they had happened here', async () => {
  const error = { code: 'TOKEN_UNKNOWN', message: 'No valid token has the id "x".', hint: 'Run `qm token ls`.' };
  const client = await clientOf((request, response) => {
    expect(request.headers.authorization).toBe('Bearer qma_x');
    response.writeHead(404).end(JSON.stringify({ error }));
  });
  await expect(client.revokeToken('x')).rejects.toMatchObject(error);
});

test('a hub that cannot be asked is named, with its process', async () => {
  const garbled = await clientOf((_request, response) => response.end('<html>'));
  await expect(garbled.listTokens()).rejects.toMatchObject({
    code: 'STATE_LOCKED',
    message: expect.stringContaining('4711'),
  });
  const foreign = await clientOf((_request, response) =>
    response.writeHead(401).end('{"error":{"code":"UNAUTHENTICATED","message":"no"}}'),
  );
  await expect(foreign.servers()).rejects.toThrow('does not take the admin token');
  const gone = createHubClient({ url: 'http://127.0.0.1:9', pid: 4711, adminToken: 'x' });
  await expect(gone.servers()).rejects.toMatchObject({
    code: 'STATE_LOCKED',
    message: expect.stringContaining('ECONNREFUSED'),
  });
});
