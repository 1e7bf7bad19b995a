import { expect, test } from 'vitest';
import { verifies } from '../../../test/support/verifies.ts';
import { createManualClock } from '../../base/manual-clock.fixture.ts';
import { onlyTools, type TransportKind } from '../../domain/index.ts';
import { legacyVersions, modernVersion } from '../../mcp/index.ts';
import { lostConnection, statusFailure, timedOut } from '../failures.ts';
import { createScriptedTransport, errorOf, resultOf, settle } from '../scripted-transport.fixture.ts';
import { type HandshakeOptions, negotiate } from './handshake.ts';

const client = { name: 'quartermaster', version: '1' };
const modern = resultOf({ supportedVersions: [modernVersion], capabilities: { tools: { listChanged: true } } });
const legacy = resultOf({ protocolVersion: '2025-06-18', capabilities: { tools: {} } });
const modernAgreement = {
  era: 'modern',
  version: modernVersion,
  hasTools: true,
  abilities: onlyTools([], 0).abilities,
  announces: { tools: true, resources: false, prompts: false },
  about: { serverInfo: undefined, instructions: undefined, capabilities: { tools: { listChanged: true } } },
};
const legacyAgreement = {
  era: 'legacy',
  version: '2025-06-18',
  hasTools: true,
  abilities: onlyTools([], 0).abilities,
  announces: { tools: false, resources: false, prompts: false },
  about: { serverInfo: undefined, instructions: undefined, capabilities: { tools: {} } },
};

function begin(kind: TransportKind, known?: HandshakeOptions['known']) {
  const transport = createScriptedTransport(kind);
  const clock = createManualClock();
  const giveUp = new AbortController();
  const options = { server: 'files', client, terms: undefined, known, timeoutMs: 30_000, signal: giveUp.signal };
  return { transport, clock, giveUp, outcome: negotiate(transport, clock, options) };
}

test.each(['stdio', 'http'] as const)('%s: a modern server is asked once', async (kind) => {
  const { transport, clock, outcome } = begin(kind);
  transport.last('server/discover').answer(modern);
  expect(await outcome).toEqual({ kind: 'agreed', agreement: modernAgreement });
  expect(transport.envelope).toMatchObject({ era: 'modern', version: modernVersion });
  expect(transport.asked).toHaveLength(1);
  expect(transport.said).toEqual([]);
  expect(clock.waiting).toBe(0);
});

test.each(['stdio', 'http'] as const)('%s: an error makes the old handshake follow', async (kind) => {
  const { transport, clock, outcome } = begin(kind);
  transport.last('server/discover').answer(errorOf(-32601, 'Method not found'));
  await settle();
  expect(transport.last('initialize')).toMatchObject({
    params: { protocolVersion: legacyVersions[0], capabilities: {}, clientInfo: client },
    envelope: { era: 'legacy', meta: '' },
  });
  transport.last('initialize').answer(legacy);
  expect(await outcome).toEqual({ kind: 'agreed', agreement: legacyAgreement });
  expect(transport.envelope).toMatchObject({ era: 'legacy', version: '2025-06-18' });
  expect(transport.said).toEqual(['notifications/initialized']);
  expect(clock.waiting).toBe(0);
});

test('a server that answers the question without knowing the revision is legacy', async () => {
  const { transport, outcome } = begin('http');
  transport.last('server/discover').answer(resultOf({ supportedVersions: ['2031-01-01'] }));
  await settle();
  transport.last('initialize').answer(legacy);
  expect(await outcome).toMatchObject({ agreement: { era: 'legacy' } });
});

const unsupported = (...supported: string[]) => errorOf(-32022, 'Unsupported protocol version', { supported });

test.each(['stdio', 'http'] as const)('%s: a server that names a revision both know is asked again', async (kind) => {
  const { transport, outcome } = begin(kind);
  transport.last('server/discover').answer(unsupported('2031-01-01', modernVersion));
  await settle();
  expect(transport.last('server/discover').envelope).toMatchObject({ era: 'modern', version: modernVersion });
  transport.last('server/discover').answer(modern);
  expect(await outcome).toEqual({ kind: 'agreed', agreement: modernAgreement });
  expect(transport.asked).toHaveLength(2);
});

test.each([
  ['names only others', [unsupported('2025-06-18')]],
  ['names none', [errorOf(-32022, 'Unsupported protocol version')]],
  ['refuses what it named', [unsupported(modernVersion), unsupported(modernVersion)]],
] as const)('a server that %s gets the old handshake', async (_, replies) => {
  const { transport, outcome } = begin('http');
  for (const reply of replies) {
    transport.last('server/discover').answer(reply);
    await settle();
  }
  transport.last('initialize').answer(legacy);
  expect(await outcome).toMatchObject({ agreement: { era: 'legacy' } });
  expect(transport.asked).toHaveLength(replies.length + 1);
});

test('a remembered legacy server is not asked the modern question', async () => {
  const { transport, outcome } = begin('stdio', 'legacy');
  transport.last('initialize').answer(legacy);
  expect(await outcome).toMatchObject({ agreement: { era: 'legacy' } });
  expect(transport.asked.map(({ method }) => method)).toEqual(['initialize']);
});

test.each([
  ['stdio', errorOf(-32601, 'Method not found')],
  ['http', errorOf(-32022, 'This server has no handshake')],
  ['http', statusFailure('files', 404, undefined)],
] as const)('%s: a remembered legacy server that was upgraded is found at once', async (kind, refusal) => {
  const { transport, outcome } = begin(kind, 'legacy');
  transport.last('initialize').answer(refusal);
  await settle();
  transport.last('server/discover').answer(modern);
  expect(await outcome).toEqual({ kind: 'agreed', agreement: modernAgreement });
  expect(transport.envelope.era).toBe('modern');
});

test('a remembered modern server that was taken back is found at once', async () => {
  const { transport, outcome } = begin('http', 'modern');
  transport.last('server/discover').answer(statusFailure('files', 400, undefined));
  await settle();
  transport.last('initialize').answer(legacy);
  expect(await outcome).toMatchObject({ agreement: { era: 'legacy' } });
});

test.each([401, 403, 451])(verifies('upstream:handshake-ends-on-refusal', 'HTTP %i is an answer'), saysNothing);
test.each([429, 500, 502, 503, 302])('HTTP %i says nothing about the era', saysNothing);

async function saysNothing(status: number): Promise<void> {
  const { transport, outcome } = begin('http');
  transport.last('server/discover').answer(statusFailure('files', status, undefined));
  expect(await outcome).toMatchObject({ kind: 'failed', failure: { httpStatus: status } });
  expect(transport.asked).toHaveLength(1);
}

test.each([200, 202, 400, 404, 405, 406, 415, 422])('HTTP %i to the modern question says legacy', async (status) => {
  const { transport, outcome } = begin('http');
  transport.last('server/discover').answer(statusFailure('files', status, undefined));
  await settle();
  transport.last('initialize').answer(legacy);
  expect(await outcome).toMatchObject({ agreement: { era: 'legacy' } });
});

test.each([
  timedOut('files', 'server/discover', 30_000),
  lostConnection('files', 'ECONNREFUSED', false),
  lostConnection('files', 'ECONNRESET', true),
])('over HTTP silence and loss say nothing about the era', async (failure) => {
  const { transport, outcome } = begin('http');
  transport.last('server/discover').answer(failure);
  expect(await outcome).toEqual({ kind: 'failed', failure });
  expect(transport.asked).toHaveLength(1);
});

test('a child that ends over the modern question is to be started anew', async () => {
  const { transport, clock, outcome } = begin('stdio');
  const failure = lostConnection('files', 'its process exited with code 1', true);
  transport.last('server/discover').answer(failure);
  expect(await outcome).toEqual({ kind: 'died-of-probe', failure });
  expect(clock.waiting).toBe(0);
});

test('a child that stays silent gets the old handshake beside the question', async () => {
  const { transport, clock, outcome } = begin('stdio');
  clock.advance(2999);
  await settle();
  expect(transport.asked).toHaveLength(1);
  clock.advance(1);
  await settle();
  transport.last('initialize').answer(legacy);
  expect(await outcome).toEqual({ kind: 'agreed', agreement: legacyAgreement });
  expect(transport.said).toEqual(['notifications/initialized']);
  expect(transport.last('server/discover').cancelledBy?.code).toBe('CANCELLED');
});

test('a slow starter that knows both eras ends in the one it answered first, whatever it answers later', async () => {
  const { transport, clock, outcome } = begin('stdio');
  clock.advance(3000);
  await settle();
  transport.last('server/discover').answer(modern);
  expect(await outcome).toEqual({ kind: 'agreed', agreement: modernAgreement });
  transport.last('initialize').answer(legacy);
  await settle();
  expect(transport.envelope).toMatchObject({ era: 'modern', version: modernVersion });
  expect(transport.said).toEqual([]);
});

test('a slow starter that wants another revision is not asked again beside the old handshake', async () => {
  const { transport, clock, outcome } = begin('stdio');
  clock.advance(3000);
  await settle();
  transport.last('initialize').answer(legacy);
  transport.last('server/discover').answer(unsupported(modernVersion));
  expect(await outcome).toEqual({ kind: 'agreed', agreement: legacyAgreement });
  await settle();
  expect(transport.envelope).toMatchObject({ era: 'legacy', version: '2025-06-18' });
  expect(transport.asked).toHaveLength(2);
});

test('both answers in one chunk: the first counts', async () => {
  const { transport, clock, outcome } = begin('stdio');
  clock.advance(3000);
  await settle();
  transport.last('server/discover').answer(modern);
  transport.last('initialize').answer(legacy);
  expect(await outcome).toMatchObject({ agreement: { era: 'modern' } });
  await settle();
  expect(transport.envelope.era).toBe('modern');
  expect(transport.said).toEqual([]);
});

test('a slow starter of the old era refuses the question and accepts the handshake', async () => {
  const { transport, clock, outcome } = begin('stdio');
  clock.advance(3000);
  await settle();
  transport.last('server/discover').answer(errorOf(-32601, 'Method not found'));
  await settle();
  transport.last('initialize').answer(legacy);
  expect(await outcome).toEqual({ kind: 'agreed', agreement: legacyAgreement });
  expect(transport.envelope.era).toBe('legacy');
});

test.each([
  [resultOf({ protocolVersion: '1999-01-01', capabilities: {} }), 'UPSTREAM_GARBLED'],
  [resultOf({ capabilities: {} }), 'UPSTREAM_GARBLED'],
  [errorOf(-32603, 'cannot start'), 'UPSTREAM_FAILED'],
  [timedOut('files', 'initialize', 30_000), 'UPSTREAM_TIMEOUT'],
])('a handshake that fails says how', async (reply, code) => {
  const { transport, outcome } = begin('stdio');
  transport.last('server/discover').answer(errorOf(-32601, 'Method not found'));
  await settle();
  transport.last('initialize').answer(reply);
  expect(await outcome).toMatchObject({ kind: 'failed', failure: { error: { code } } });
  expect(transport.said).toEqual([]);
});

test.each(['stdio', 'http'] as const)('%s: a handshake that nobody wants any more ends at once', async (kind) => {
  const { transport, clock, giveUp, outcome } = begin(kind);
  clock.advance(3000);
  await settle();
  giveUp.abort();
  expect(await outcome).toMatchObject({ kind: 'failed', failure: { error: { code: 'CANCELLED' } } });
  expect(transport.asked.every(({ cancelledBy }) => cancelledBy !== undefined)).toBe(true);
  expect(clock.waiting).toBe(0);
});

test('over HTTP the handshake ends when the server has accepted the notification, or never answers', async () => {
  for (const answers of [true, false]) {
    const { transport, clock, outcome } = begin('http', 'legacy');
    let take: () => void = () => {};
    transport.taken = new Promise((resolve) => {
      take = resolve;
    });
    let agreed = false;
    void outcome.then(() => {
      agreed = true;
    });
    transport.last('initialize').answer(legacy);
    await settle();
    expect([transport.said, agreed]).toEqual([['notifications/initialized'], false]);
    if (answers) take();
    else clock.advance(2000);
    expect(await outcome).toEqual({ kind: 'agreed', agreement: legacyAgreement });
    expect(clock.waiting).toBe(0);
  }
});

test('the lists and announcements of a server follow its capabilities', async () => {
  const { transport, outcome } = begin('http');
  const capabilities = {
    resources: { subscribe: true, listChanged: true },
    prompts: { listChanged: 'yes' },
    completions: {},
    logging: null,
  };
  transport.last('server/discover').answer(resultOf({ supportedVersions: [modernVersion], capabilities }));
  expect(await outcome).toMatchObject({
    agreement: {
      hasTools: false,
      abilities: {
        resources: true,
        subscriptions: true,
        prompts: true,
        completions: true,
        logging: false,
        tasks: false,
      },
      announces: { tools: false, resources: true, prompts: false },
    },
  });
});

test('tasks are for servers of the modern era that declare the extension', async () => {
  const capabilities = { tools: {}, extensions: { 'io.modelcontextprotocol/tasks': {} } };
  const modern = begin('http');
  modern.transport.last('server/discover').answer(resultOf({ supportedVersions: [modernVersion], capabilities }));
  expect(await modern.outcome).toMatchObject({ agreement: { era: 'modern', abilities: { tasks: true } } });
  const old = begin('http', 'legacy');
  old.transport.last('initialize').answer(resultOf({ protocolVersion: '2025-11-25', capabilities }));
  expect(await old.outcome).toMatchObject({ agreement: { era: 'legacy', abilities: { tasks: false } } });
});
