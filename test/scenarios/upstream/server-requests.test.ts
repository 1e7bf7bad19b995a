import { expect, test } from 'vitest';
import { readCalls } from '../../../src/ledger/index.ts';
import { startHttpFixture } from '../../support/fixture-servers.ts';
import { gatewayForTest, type RunningGateway } from '../../support/gateway.ts';
import { stdioServer } from '../../support/hub.ts';
import {
  type LegacyClient,
  legacyClient,
  type ModernClient,
  metaPrefix,
  modernClient,
  textOf,
} from '../../support/mcp-clients.ts';
import type { Answer, Stream } from '../../support/mcp-http.ts';
import { createMovingClock, type MovingClock } from '../../support/moving-clock.ts';
import { ledgerOf } from '../../support/state-home.ts';
import { eventually } from '../../support/within.ts';

const forms = { elicitation: { form: {} } };
const accept = { action: 'accept', content: {} };
const tenMinutes = 600_000;

interface Scene {
  readonly gateway: RunningGateway;
  readonly clock: MovingClock;
  readonly client: Asked;
}

/** A modern client that is asked. */
interface Asked {
  ask(args?: object, more?: object): Promise<Answer>;
  /** Accepts whatever is asked until there is a result; returns what came back to the server. */
  through(answer: Answer, args?: object): Promise<unknown>;
}

async function begin(isolation = 'per-session', timeoutS = 30): Promise<Scene> {
  const clock = createMovingClock();
  const gateway = await gatewayForTest(
    { servers: { asker: stdioServer('asker.mjs', [], { isolation, limits: { timeout_s: timeoutS } }) } },
    { clock },
  );
  return { gateway, clock, client: asked(modernClient(gateway.url, await gateway.token())) };
}

function asked(client: ModernClient, capabilities: object = forms): Asked {
  const ask = (args: object = {}, more: object = {}): Promise<Answer> =>
    client.request(
      'tools/call',
      { name: 'asker_ask', arguments: args, ...more },
      { meta: { [`${metaPrefix}clientCapabilities`]: capabilities } },
    );
  return {
    ask,
    async through(first, args) {
      let answer = first;
      while (stateOf(answer) !== undefined) answer = await ask(args, answersTo(answer));
      return JSON.parse(textOf(answer.message) ?? answer.text);
    },
  };
}

function stateOf({ message }: Answer): string | undefined {
  return message.result?.requestState as string | undefined; // absent unless something is asked
}

function keysOf({ message }: Answer): string[] {
  return Object.keys((message.result?.inputRequests ?? {}) as object); // an object by the protocol
}

function answersTo(answer: Answer): object {
  return {
    requestState: stateOf(answer),
    inputResponses: Object.fromEntries(keysOf(answer).map((key) => [key, accept])),
  };
}

test('a server of the other era asks again and again, one after the other and at once', async () => {
  const { gateway, client } = await begin();
  const args = { rounds: 3, count: 2 };
  const first = await client.ask(args);
  expect(first.message.result).toMatchObject({ resultType: 'input_required' });
  expect(await client.through(first, args)).toEqual(Array(6).fill('accept'));
  expect(await gateway.calls(1)).toMatchObject([{ tool: 'ask', outcome: 'ok' }]);
  expect(gateway.hub.callsInFlight).toBe(0);
});

test('a client that takes no streams is asked too', async () => {
  const { gateway } = await begin();
  const client = modernClient(gateway.url, await gateway.token());
  const answer = await client.call(
    'asker_ask',
    {},
    { meta: { [`${metaPrefix}clientCapabilities`]: forms }, headers: { accept: 'application/json' } },
  );
  expect(answer.message.result).toMatchObject({ resultType: 'input_required' });
});

test('a client gets no request for a capability it did not declare, in any protocol version', async () => {
  const { gateway, client } = await begin();
  expect(await client.through(await client.ask({ method: 'sampling/createMessage' }))).toEqual([-32601]);
  const token = await gateway.token();
  const mute = asked(modernClient(gateway.url, token), {});
  expect(await mute.through(await mute.ask())).toEqual([-32601]);
  const legacy = await legacyClient(gateway.url, token, '2025-11-25', { roots: {} });
  expect(textOf((await legacy.call('asker_ask')).message)).toBe('[-32601]');
});

test('a state that is forged, of somebody else, for something else, used before or too old is refused', async () => {
  const { gateway, clock, client } = await begin('per-agent');
  const answer = await client.ask();
  const state = String(stateOf(answer));
  const stranger = asked(modernClient(gateway.url, await gateway.token('stranger')));
  const sibling = asked(modernClient(gateway.url, await gateway.token()));
  const answers = answersTo(answer);
  const refused = [
    await client.ask({}, { ...answers, requestState: `${state.slice(0, -1)}${state.endsWith('A') ? 'E' : 'A'}` }),
    await client.ask({}, { ...answers, requestState: 'nonsense' }),
    await client.ask({}, { ...answers, requestState: 7 }),
    await client.ask({ rounds: 2 }, answers),
    await stranger.ask({}, answers),
    await sibling.ask({}, answers),
  ];
  expect(await client.through(await client.ask({}, answers))).toEqual(['accept']);
  refused.push(await client.ask({}, answers));
  const old = await client.ask();
  clock.advance(tenMinutes);
  await eventually(() => gateway.hub.callsInFlight === 0 || undefined, 'the call to be given up');
  refused.push(await client.ask({}, answersTo(old)));
  clock.advance(6 * tenMinutes);
  refused.push(await client.ask({}, answersTo(old)));
  for (const { message } of refused) expect(message.error).toMatchObject({ code: -32602 });
  expect((await gateway.calls(2)).map(({ outcome }) => outcome)).toEqual(['ok', 'cancelled']);
});

test('if two requests with the same state arrive at once, one continues', async () => {
  const { gateway, client } = await begin();
  const answers = answersTo(await client.ask());
  const both = await Promise.all([client.ask({}, answers), client.ask({}, answers)]);
  expect(both.map(({ message }) => message.error?.code ?? textOf(message)).toSorted()).toEqual([-32602, '["accept"]']);
  expect(await gateway.calls(1)).toHaveLength(1);
});

test('a call whose client never comes back is ended, is on the ledger, and makes way for the next', async () => {
  const { gateway, clock, client } = await begin();
  await client.ask();
  // The connection asks for one client at a time: the next one has to wait.
  const next = client.ask();
  await eventually(() => gateway.hub.callsInFlight === 2 || undefined, 'the next call');
  clock.advance(31_000);
  expect((await next).message.error?.message).toContain('busy with another client');
  clock.advance(tenMinutes);
  await eventually(() => gateway.hub.callsInFlight === 0 || undefined, 'the call to be given up');
  const outcomes = (await gateway.calls(2)).map(({ outcome }) => outcome);
  expect(outcomes.toSorted()).toEqual(['cancelled', 'overloaded']);
  expect(await client.through(await client.ask())).toEqual(['accept']);
});

test('so many calls of one principal may wait, and no more; others have room', async () => {
  const clock = createMovingClock();
  const server = await startHttpFixture('matrix.mjs', ['--era', 'legacy', '--label', 'asker']);
  const gateway = await gatewayForTest(
    { servers: { asker: { url: server.url, isolation: 'per-agent', limits: { concurrency: 64 } } } },
    { clock },
  );
  try {
    const meta = { [`${metaPrefix}clientCapabilities`]: forms };
    const client = modernClient(gateway.url, await gateway.token());
    const call = (nonce: string): Promise<Answer> => client.call('asker_ask_form', { nonce }, { meta });
    const first = await call('first');
    expect(first.message.result?.resultType).toBe('input_required');
    const answers = await Promise.all(Array.from({ length: 33 }, (_, index) => call(`${index}`)));
    const codes = answers.map(({ message }) => message.error?.data?.code ?? message.result?.resultType);
    expect(codes.filter((code) => code === 'input_required')).toHaveLength(31);
    expect(codes.filter((code) => code === 'OVERLOADED')).toHaveLength(2);
    const other = modernClient(gateway.url, await gateway.token('other'));
    const theirs = await other.call('asker_ask_form', { nonce: 'theirs' }, { meta });
    expect(theirs.message.result?.resultType).toBe('input_required');
    clock.advance(tenMinutes);
    await eventually(() => gateway.hub.callsInFlight === 0 || undefined, 'all to be given up');
    expect(await gateway.calls(35)).toHaveLength(35);
    await gateway.stop();
  } finally {
    await server.stop();
  }
});

test('a client is asked a few things at a time, although the server asks ten thousand at once', async () => {
  const { client } = await begin();
  const args = { count: 10_000 };
  let answer = await client.ask(args);
  let asked = 0;
  while (stateOf(answer) !== undefined) {
    expect(keysOf(answer).length).toBeLessThanOrEqual(32);
    asked += keysOf(answer).length;
    answer = await client.ask(args, answersTo(answer));
  }
  const outcomes = JSON.parse(String(textOf(answer.message))) as unknown[]; // the tool answers with a list
  expect(outcomes).toHaveLength(10_000);
  expect(outcomes.filter((outcome) => outcome === 'accept')).toHaveLength(asked);
  expect(outcomes.filter((outcome) => outcome === -32603)).toHaveLength(10_000 - asked);
});

test('a question of megabytes arrives; an answer that is too large is refused, and another one is taken', async () => {
  const { gateway, client } = await begin();
  const args = { bytes: 3_000_000 };
  const answer = await client.ask(args);
  expect(answer.text.length).toBeGreaterThan(3_000_000);
  const tooMuch = {
    q1: { action: 'accept', content: { text: 'x'.repeat(gateway.hub.configuration.serve.maxBodyBytes) } },
  };
  expect((await client.ask(args, { ...answersTo(answer), inputResponses: tooMuch })).status).toBe(413);
  expect(await client.through(answer, args)).toEqual(['accept']);

  const legacy = await legacyClient(gateway.url, await gateway.token('legacy'), '2025-11-25', forms);
  const stream = await legacy.callStream('asker_ask', args);
  const question = await stream.next();
  expect(question.method).toBe('elicitation/create');
  await legacy.post({ jsonrpc: '2.0', id: question.id, result: accept });
  expect(textOf(await stream.next())).toBe('["accept"]');
});

test('a client of the handshake era that ends its session while it is asked leaves nothing behind', async () => {
  const { gateway } = await begin();
  const { legacy, stream } = await legacyAsked(gateway);
  stream.close();
  await legacy.remove();
  expect(await gateway.calls(1)).toMatchObject([{ outcome: 'ok' }]);
  await eventually(() => gateway.hub.childrenRunning === 1 || undefined, 'its own connection to close');
});

test('a client of the handshake era that vanishes while it is asked is given up after a time', async () => {
  // The clock may run on while the server answers, so the call itself must have time.
  const { gateway, clock } = await begin('per-session', 3600);
  const { stream } = await legacyAsked(gateway);
  stream.close();
  await eventually(() => {
    clock.advance(60_000);
    return gateway.hub.callsInFlight === 0 || undefined;
  }, 'the question to be given up');
  expect(await gateway.calls(1)).toMatchObject([{ outcome: 'ok' }]);
});

test('a client of the handshake era that cancels while it is asked is heard', async () => {
  const { gateway } = await begin();
  const { legacy, stream, question } = await legacyAsked(gateway, 'mine');
  await legacy.notify('notifications/cancelled', { requestId: 'mine', reason: 'enough' });
  // What it was asked is of no use any more.
  expect(await stream.next()).toMatchObject({
    method: 'notifications/cancelled',
    params: { requestId: question.id, reason: 'the call has ended' },
  });
  expect(await gateway.calls(1)).toMatchObject([{ outcome: 'cancelled', error: 'The call was cancelled: enough.' }]);
  expect(gateway.hub.callsInFlight).toBe(0);
});

test('unrequested answers and answers of other clients are ignored', async () => {
  const { gateway } = await begin();
  const { legacy, stream, question } = await legacyAsked(gateway);
  const other = await legacyClient(gateway.url, await gateway.token('other'), '2025-11-25', forms);
  await other.post({ jsonrpc: '2.0', id: question.id, result: { action: 'decline' } });
  await legacy.post({ jsonrpc: '2.0', id: 'qm-99', result: { action: 'decline' } });
  await legacy.post({ jsonrpc: '2.0', id: question.id, result: accept });
  await legacy.post({ jsonrpc: '2.0', id: question.id, result: { action: 'decline' } });
  expect(textOf(await stream.next())).toBe('["accept"]');
});

test('a hub that stops while calls wait for their clients ends them', async () => {
  const { gateway, client } = await begin();
  await client.ask();
  const legacy = await legacyAsked(gateway);
  await Promise.all([gateway.gateway.close(), gateway.hub.stop()]);
  expect(gateway.hub.callsInFlight).toBe(0);
  const calls = await readCalls(ledgerOf(gateway.workspace));
  expect(calls).toHaveLength(2);
  for (const { outcome } of calls) expect(['interrupted', 'ok']).toContain(outcome);
  legacy.stream.close();
});

test('a server that is removed while it waits for an answer gets it first', async () => {
  const { gateway, client } = await begin();
  const answer = await client.ask();
  await gateway.configure({ servers: {} });
  await gateway.hub.reload();
  expect(await client.through(answer)).toEqual(['accept']);
  await eventually(() => gateway.hub.childrenRunning === 0 || undefined, 'the server to be let go');
});

async function legacyAsked(
  gateway: RunningGateway,
  id: string | number = 1,
): Promise<{ legacy: LegacyClient; stream: Stream; question: { readonly id?: unknown } }> {
  const legacy = await legacyClient(gateway.url, await gateway.token('legacy'), '2025-11-25', forms);
  const stream = await legacy.callStream('asker_ask', {}, { id });
  const question = await stream.next();
  expect(question.method).toBe('elicitation/create');
  return { legacy, stream, question };
}
