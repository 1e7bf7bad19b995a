import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { openStage } from '../../support/hub.ts';
import { verifies } from '../../support/verifies.ts';
import { ann, question, untilState } from './approvals.fixture.ts';

interface Request {
  readonly id?: number;
  readonly method: string;
}

const results: Readonly<Record<string, object>> = {
  initialize: { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'x', version: '1' } },
  'tools/list': { tools: [{ name: 'start', inputSchema: { type: 'object' } }] },
};

/** Does the work of a call and says that it has no such session. */
async function forgetfulServer(): Promise<{ readonly url: string; readonly calls: () => number }> {
  let calls = 0;
  const server = createServer(async (request, response) => {
    if (request.method !== 'POST') return void response.writeHead(405).end();
    const { id, method } = (await json(request)) as Request;
    if (method === 'tools/call') calls++;
    const result = results[method];
    if (result === undefined) return void response.writeHead(id === undefined ? 202 : 404).end();
    response.writeHead(200, { 'content-type': 'application/json', 'mcp-session-id': 'one' });
    response.end(JSON.stringify({ jsonrpc: '2.0', id, result }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`, calls: () => calls };
}

test(
  verifies('approvals:once', 'a server that did the work and says the session is lost gets no second call'),
  async () => {
    const server = await forgetfulServer();
    const stage = await openStage();
    await stage.start({
      servers: { deploy: { url: server.url } },
      policies: { tools: { 'deploy.start': 'require-approval' } },
    });
    await stage.hub.discover();
    const held = stage.begin('deploy_start');
    const { id } = await question(stage.hub);
    await (await stage.hub.approvals.opened()).approve(id, ann);
    expect((await held.result).kind).toBe('failed');
    expect(server.calls()).toBe(1);
    await untilState(stage.hub, id, 'spent');
  },
);
