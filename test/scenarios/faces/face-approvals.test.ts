import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { expect, test } from 'vitest';
import { echoServer, gatewayForTest, type RunningGateway } from '../../support/gateway.ts';
import { programModule } from '../../support/programs.ts';
import { verifies } from '../../support/verifies.ts';
import { question, untilState } from '../hub/approvals.fixture.ts';

const adminToken = 'the-operator';
const patient = { timeout: 90_000 };

function open(more: object = {}): Promise<RunningGateway> {
  const policies = { tools: { 'echo.*': 'require-approval' } };
  return gatewayForTest({ servers: { echo: echoServer }, policies, ...more }, { adminToken });
}

async function api(gateway: RunningGateway, path: string, body?: object, method = body ? 'POST' : 'GET') {
  const response = await fetch(`${gateway.origin}/api/approvals${path}`, {
    method,
    headers: { authorization: `Bearer ${adminToken}` },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

async function connect(gateway: RunningGateway, mode?: 'auto'): Promise<Client> {
  const headers = { Authorization: `Bearer ${await gateway.token()}` };
  const client = new Client({ name: 'second-line', version: '1' }, mode ? { versionNegotiation: { mode } } : {});
  await client.connect(new StreamableHTTPClientTransport(new URL(gateway.url), { requestInit: { headers } }));
  return client;
}

test.each([
  ['legacy', undefined],
  ['modern', 'auto'],
] as const)(
  verifies('approvals:held', 'SDK v2, %s: a held call is approved from outside and finishes'),
  patient,
  async (era, mode) => {
    const gateway = await open();
    const client = await connect(gateway, mode);
    expect(client.getProtocolEra()).toBe(era);
    const progress: unknown[] = [];
    const held = client.callTool(
      { name: 'echo', arguments: { message: 'hi' } },
      { onprogress: (each) => void progress.push(each) },
    );
    const { id } = await question(gateway.hub);
    expect((await api(gateway, `/${id}/approve`, {})).status).toBe(200);
    expect(await held).toMatchObject({ content: [{ text: 'hi' }] });
    expect(progress.length).toBeGreaterThan(0);
    await client.close();
  },
);

test(
  verifies('approvals:pending', 'SDK v2: a client that waits less than the person calls again'),
  patient,
  async () => {
    const gateway = await open({ approvals: { wait: '1s' } });
    const client = await connect(gateway, 'auto');
    const order = { name: 'echo', arguments: { message: 'hi' } };
    const pending = await client.callTool(order);
    expect(pending).toMatchObject({ structuredContent: { status: 'pending-approval' } });
    const { id } = await question(gateway.hub);
    await api(gateway, `/${id}/approve`, {});
    expect(await client.callTool(order)).toMatchObject({ content: [{ text: 'hi' }] });
    await client.close();
  },
);

test(verifies('approvals:held', 'SDK v1: a held call is approved from outside and finishes'), patient, async () => {
  const gateway = await open();
  const { StreamableHTTPClientTransport: Transport } = await import(
    programModule('@modelcontextprotocol/sdk/client/streamableHttp.js')
  );
  const { Client: FirstLine } = await import(programModule('@modelcontextprotocol/sdk/client/index.js'));
  const headers = { Authorization: `Bearer ${await gateway.token()}` };
  const client = new FirstLine({ name: 'first-line', version: '1' });
  await client.connect(new Transport(new URL(gateway.url), { requestInit: { headers } }));
  const held = client.callTool({ name: 'echo', arguments: { message: 'hi' } });
  const { id } = await question(gateway.hub);
  await api(gateway, `/${id}/approve`, {});
  expect(await held).toMatchObject({ content: [{ text: 'hi' }] });
  await client.close();
});

test(verifies('approvals:person', 'an agent has no tool, and its token no route, to decide'), patient, async () => {
  const gateway = await open({ approvals: { wait: '1s' } });
  const client = await connect(gateway);
  const { tools } = await client.listTools();
  expect(tools.filter(({ name }) => /approv|grant/.test(name))).toEqual([]);
  await client.callTool({ name: 'echo', arguments: {} });
  const { id } = await question(gateway.hub);
  const response = await fetch(`${gateway.origin}/api/approvals/${id}/approve`, {
    method: 'POST',
    headers: { authorization: `Bearer ${await gateway.token()}` },
    body: '{}',
  });
  expect(response.status).toBe(401);
  await client.close();
});

test(verifies('approvals:commands', 'the API lists, shows, denies, grants and revokes'), patient, async () => {
  const gateway = await open({ approvals: { wait: '1s' } });
  const client = await connect(gateway);
  const call = (message: string) => client.callTool({ name: 'echo', arguments: { message } });
  await call('one');
  const { id } = await question(gateway.hub);
  expect((await api(gateway, '')).body).toMatchObject({
    approvals: [{ id, agent: 'tester', server: 'echo', tool: 'echo', arguments: { message: 'one' }, state: 'open' }],
  });
  const { body: detail } = await api(gateway, `/${id}`);
  expect(detail).toMatchObject({ argumentsText: '{"message":"one"}', risk: 'write', before: [{ outcome: 'pending' }] });
  expect((await api(gateway, `/${id}/not-now`, {})).body).toMatchObject({ state: 'open' });
  expect((await api(gateway, `/${id}/deny`, { reason: 'no' })).body).toMatchObject({
    state: 'denied',
    by: 'admin-token',
  });
  expect((await api(gateway, `/${id}/approve`, {})).status).toBe(409);
  expect((await api(gateway, '/nothing')).status).toBe(404);
  expect((await api(gateway, `/${id}/deny`, { suggest: '[1]' })).status).toBe(400);
  await call('two');
  const second = await question(gateway.hub);
  const { body } = await api(gateway, `/${second.id}/approve`, { grant: { calls: 3 } });
  const { id: grant } = body.grant as { id: string };
  await untilState(gateway.hub, second.id, 'spent');
  expect(await call('three')).toMatchObject({ content: [{ text: 'three' }] });
  expect((await api(gateway, '/grants')).body).toMatchObject({ grants: [{ id: grant, used: 1, calls: 3 }] });
  expect((await api(gateway, `/grants/${grant}`, undefined, 'DELETE')).status).toBe(200);
  expect((await api(gateway, '/grants')).body).toEqual({ grants: [] });
  await client.close();
});
