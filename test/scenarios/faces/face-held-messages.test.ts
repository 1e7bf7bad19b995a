import { describe, expect, test } from 'vitest';
import { fixturePath } from '../../support/fixture-servers.ts';
import { echoServer, gatewayForTest, type RunningGateway } from '../../support/gateway.ts';
import { legacyClient, metaPrefix, modernClient, textOf } from '../../support/mcp-clients.ts';
import { verifies } from '../../support/verifies.ts';
import { eventually } from '../../support/within.ts';

/** Parts of a client's message that the hub keeps until the answer, and longer. */
const junk = 'x'.repeat(200_000);
const forms = { [`${metaPrefix}clientCapabilities`]: { elicitation: { form: {} } } };

function server(file: string, ...args: string[]): object {
  return { command: process.execPath, args: [fixturePath(file), ...args] };
}

/** What large messages of the agent take now. */
function heldBy({ hub }: RunningGateway): number {
  return hub.callerFor({ agent: 'tester' }).account?.arguments.used ?? Number.NaN;
}

describe(verifies('http:messages-forgotten', 'an id or a progress token over 256 characters is refused'), () => {
  const long = 'i'.repeat(257);

  test('of a modern client', async () => {
    const gateway = await gatewayForTest();
    const client = modernClient(gateway.url, await gateway.token());
    expect((await client.call('echo', { message: 'hi' }, { id: long })).message.error).toMatchObject({
      message: expect.stringContaining('"id" may have 256 characters'),
    });
    expect(
      (await client.call('echo', { message: 'hi' }, { meta: { progressToken: long } })).message.error,
    ).toMatchObject({
      code: -32602,
      message: expect.stringContaining('"progressToken" may have 256 characters'),
    });
    const fitting = { id: 'i'.repeat(254), meta: { progressToken: 'i'.repeat(256) } };
    expect(textOf((await client.call('echo', { message: 'hi' }, fitting)).message)).toBe('hi');
    expect(await gateway.calls(1)).toHaveLength(1);
  });

  test('of a client with a session', async () => {
    const gateway = await gatewayForTest();
    const client = await legacyClient(gateway.url, await gateway.token());
    expect((await client.call('echo', { message: 'hi' }, { id: long })).status).toBe(400);
    const { message } = await client.call('echo', { message: 'hi' }, { id: 'a', meta: { progressToken: long } });
    expect(message).toMatchObject({ id: 'a', error: { code: -32602 } });
  });
});

describe(verifies('http:messages-forgotten', 'a large message counts until it is answered'), () => {
  test('while a list waits for a server', async () => {
    const gateway = await gatewayForTest({ servers: { late: server('late.mjs', '--start', '60000') } }, { cold: true });
    const client = modernClient(gateway.url, await gateway.token());
    const list = client.request('tools/list', { junk });
    list.catch(() => {});
    await eventually(() => heldBy(gateway) > junk.length || undefined, 'the list to wait');
  });

  test('and not once the list has come', async () => {
    const gateway = await gatewayForTest({ servers: { echo: echoServer } });
    const client = modernClient(gateway.url, await gateway.token());
    expect((await client.request('tools/list', { junk })).status).toBe(200);
    const legacy = await legacyClient(gateway.url, await gateway.token(), '2025-03-26');
    expect((await legacy.post([{ jsonrpc: '2.0', id: 1, method: 'ping', params: { junk } }])).status).toBe(200);
    await eventually(() => heldBy(gateway) === 0 || undefined, 'the messages to be forgotten');
  });

  test('while a call waits for input, and while the input is worked on', async () => {
    const gateway = await gatewayForTest({
      servers: { asker: { ...server('asker.mjs'), isolation: 'per-session' } },
    });
    const client = modernClient(gateway.url, await gateway.token());
    const call = { name: 'asker_ask', arguments: { rounds: 2 } };
    const first = await client.request('tools/call', { ...call, junk }, { meta: forms });
    expect(first.message.result?.resultType).toBe('input_required');
    expect(heldBy(gateway)).toBeGreaterThan(junk.length);
    expect(heldBy(gateway)).toBeLessThan(2 * junk.length);
    let { requestState } = first.message.result ?? {};
    for (const key of ['q1', 'q2']) {
      const inputResponses = { [key]: { action: 'accept', content: { junk } } };
      const next = await client.request('tools/call', { ...call, requestState, inputResponses }, { meta: forms });
      requestState = next.message.result?.requestState;
    }
    expect(requestState).toBeUndefined();
    await eventually(() => heldBy(gateway) === 0 || undefined, 'the messages to be forgotten');
  });
});
