import { describe, expect, test } from 'vitest';
import { createMovingClock } from '../../test/support/moving-clock.ts';
import { verifies } from '../../test/support/verifies.ts';
import type { CacheSettings, Fleet } from '../domain/index.ts';
import type { ServerDraft } from '../governance/policy/fleet.fixture.ts';
import { systemFiles } from '../ledger/ledger-files.ts';
import { askableOf } from '../mcp/index.ts';
import type { WireReply } from '../upstream/index.ts';
import type { CallRequest, CallResult } from './call.ts';
import { type CallStage, openCallStage } from './call-stage.fixture.ts';
import { catalogOf, failureOf, offering, resultOf } from './scripted-server.fixture.ts';

const settings: CacheSettings = { ttlMs: 60_000, maxBytes: 1_000_000, tools: undefined, resources: true };
const trusting = { trustAnnotations: true };

describe('the same call', () => {
  test(verifies('cache:same-call', 'is answered without its server, by the text that it sent'), async () => {
    const { run, stage, clock } = await open();
    stage.files.replies = [() => resultOf('{ "content":[{"n":12345678901234567890, "s":"\\u00e9é"}]}'), ...counting()];
    const first = await run('files_read', { argumentsText: '{"a":1}' });
    expect(await run('files_read', { argumentsText: '{"a":1}' })).toMatchObject({
      result: { text: textIn(first), value: valueIn(first) },
    });
    expect(stage.files.sent).toHaveLength(1);
    // Other words are another call, though they mean the same.
    for (const argumentsText of ['{"a": 1}', '{"a":2}', '{}']) await run('files_read', { argumentsText });
    expect(stage.files.sent).toHaveLength(4);
    clock.advance(settings.ttlMs);
    await run('files_read', { argumentsText: '{"a":1}' });
    expect(stage.files.sent).toHaveLength(5);
  });

  test(
    verifies('cache:ledger', 'is on the ledger once, and its server has neither rate nor connection to give'),
    async () => {
      const { run, stage } = await open({ limits: { ratePerMin: 1, concurrency: 1 } });
      await run('files_read');
      stage.files.link = undefined;
      for (const _ of [1, 2]) expect(await run('files_read')).toMatchObject({ kind: 'result' });
      const lines = await stage.lines();
      expect(lines.map(({ outcome, transport, cached, retries }) => [outcome, transport, cached, retries])).toEqual([
        ['ok', 'stdio', undefined, 0],
        ['ok', null, true, null],
        ['ok', null, true, null],
      ]);
      expect(stage.metered.map(({ sent, outcome }) => [sent, outcome])).toEqual([
        [true, 'ok'],
        [false, 'ok'],
        [false, 'ok'],
      ]);
      expect(stage.files.connects).toBe(1);
      expect(stage.journal().match(/"k":"cached"/g)).toHaveLength(2);
      expect(stage.underWay.size + stage.files.held).toBe(0);
    },
  );

  test(verifies('cache:ledger', 'is refused where it cannot be recorded'), async () => {
    let full = false;
    const { run, stage } = await open({
      write: (...args) => {
        if (full) throw new Error('no room');
        return systemFiles.write(...args);
      },
    });
    await run('files_read');
    full = true;
    expect(await run('files_read')).toMatchObject({ error: { code: 'LEDGER_UNAVAILABLE' } });
    full = false;
    expect((await stage.lines()).map(({ outcome, cached }) => [outcome, cached])).toEqual([
      ['ok', undefined],
      ['unavailable', undefined],
    ]);
    expect(stage.metered.map(({ outcome }) => outcome)).toEqual(['ok', 'unavailable']);
  });

  test('at the same time is two calls', async () => {
    const { run, stage } = await open();
    await Promise.all([run('files_read'), run('files_read')]);
    expect(stage.files.sent).toHaveLength(2);
  });

  test('with another trace is the same, with other words for the server it is another', async () => {
    const { run, stage } = await open();
    const trace = (n: number) => `"traceparent":"00-${'ab'.repeat(16)}-${String(n).padStart(16, '0')}-01"`;
    for (const meta of ['', trace(1), `${trace(2)},"tracestate":"a=b"`]) await run('files_read', { meta });
    expect(stage.files.sent).toHaveLength(1);
    for (const meta of ['"locale":"de"', `"locale":"de",${trace(3)}`, '"locale":"fr"'])
      await run('files_read', { meta });
    expect(stage.files.sent).toHaveLength(3);
  });

  test(verifies('cache:same-call', 'of a client that can do less is another'), async () => {
    const { run, stage } = await open();
    for (const can of [{}, { elicitation: {} }, {}, { elicitation: {} }, { roots: {} }]) {
      const client = { principal: 'p', session: undefined, askable: askableOf(can), takesRounds: false };
      await run('files_read', { client });
    }
    expect(stage.files.sent.map(({ capabilities }) => capabilities)).toEqual([
      '{}',
      askableOf({ elicitation: {} }).text,
      askableOf({ roots: {} }).text,
    ]);
  });
});

describe('rights', () => {
  test(verifies('cache:rights', 'come first: nobody is answered who may not ask'), async () => {
    const { run, stage } = await open({ files: { cache: { ...settings, tools: ['secret', 'ask', 'read'] } } });
    await run('files_read');
    expect(await run('files_secret')).toMatchObject({ error: { code: 'TOOL_UNKNOWN' } });
    expect(await run('files_ask')).toMatchObject({ error: { code: 'APPROVAL_REQUIRED' } });
    expect(await run('files_read', { args: [] })).toMatchObject({ error: { code: 'ARGUMENTS_INVALID' } });
    stage.stopping = true;
    expect(await run('files_read')).toMatchObject({ error: { code: 'HUB_STOPPING' } });
    expect(stage.files.sent).toHaveLength(1);
  });

  test(verifies('cache:rights', 'of a shared connection are shared, those of a seat are not'), async () => {
    const { run, stage } = await open();
    const as = (agent: string) => ({ caller: { agent, chain: [agent], tokenId: undefined, run: 'run-1' } });
    for (const agent of ['a', 'b']) await run('files_read', as(agent));
    expect(stage.files.sent).toHaveLength(1);
    const seated = await open({ seatKey: ({ agent }) => agent });
    for (const agent of ['a', 'b', 'a', 'b']) await seated.run('files_read', as(agent));
    expect(seated.stage.files.sent).toHaveLength(2);
  });
});

describe('kept is', () => {
  const bad: readonly [string, WireReply][] = [
    ['an error of the tool', resultOf('{"isError":true,"content":[]}')],
    ['an error of the server', { kind: 'error', id: 1, text: '{}', code: -1, message: 'no' }],
    ['a failure', failureOf('UPSTREAM_TIMEOUT', 'gave-up', true)],
    ['a question', resultOf('{"resultType":"input_required","inputRequests":{}}')],
    ['a task', resultOf('{"resultType":"task","taskId":"1"}')],
    ['something unheard of', resultOf('{"resultType":"dream"}')],
  ];
  test.each(bad)(verifies('cache:only-good', 'not %s'), async (_what, reply) => {
    const { run, stage } = await open();
    stage.files.replies = [() => reply, ...counting()];
    await run('files_read');
    expect(textIn(await run('files_read'))).toBe('{"n":1}');
    expect(textIn(await run('files_read'))).toBe('{"n":1}');
    expect(stage.files.sent).toHaveLength(2);
  });

  test(verifies('cache:only-good', 'not what depends on what the client said'), async () => {
    const { run, stage } = await open();
    const inputs = '"inputResponses":{"a":{}}';
    for (const more of [{ inputs }, {}, { inputs }]) await run('files_read', more);
    expect(stage.files.sent).toHaveLength(3);
    stage.files.replies = [
      async (request) => {
        await request.hearing?.ask({ method: 'roots/list', params: {}, paramsText: '{}' });
        return resultOf('{"roots":1}');
      },
      ...counting(),
    ];
    const channel = { ask: async () => ({ kind: 'result', text: '{}' }) as const };
    const client = { principal: 'p', session: 's', askable: askableOf({ roots: {} }), takesRounds: false };
    expect(textIn(await run('files_read', { client, channel }))).toBe('{"roots":1}');
    expect(textIn(await run('files_read'))).toBe('{"n":1}');
  });

  test(verifies('cache:only-good', 'no tool that may write, unless the operator says that it only reads'), async () => {
    const untrusted = await open({ files: { access: {} } });
    for (const _ of [1, 2]) await untrusted.run('files_read');
    expect(untrusted.stage.files.sent).toHaveLength(2);
    const named = await open({ files: { access: {}, cache: { ...settings, tools: ['write'] } } });
    for (const name of ['files_write', 'files_write']) await named.run(name);
    expect(named.stage.files.sent).toHaveLength(1);
  });

  test('no prompt and no completion, and a resource in the words of each who reads it', async () => {
    const { run, stage } = await open({ offer: { resources: ['memo://1'], prompts: ['greet'] } });
    stage.files.replies = [() => resultOf('{"contents":[{"uri":"memo://1#a","text":"x"}]}')];
    const argument = '{"argument":{"name":"who","value":"m"}}';
    for (const _ of [1, 2]) {
      await run('files_greet', { kind: 'prompt' });
      await run('prompt:files_greet', { kind: 'completion', argumentsText: argument });
      await run('memo://1', { kind: 'resource', argumentsText: '{"uri":"memo://1"}' });
    }
    expect(stage.files.sent).toHaveLength(5);
    const long = await run('files+memo://1', { kind: 'resource', argumentsText: '{"uri":"files+memo://1"}' });
    expect(valueIn(long)).toMatchObject({ contents: [{ uri: 'files+memo://1#a' }] });
    expect(stage.files.sent).toHaveLength(5);
  });

  test('no resource where the operator does not want it', async () => {
    const cache = { ...settings, resources: false };
    const { run, stage } = await open({ files: { cache }, offer: { resources: ['memo://1'] } });
    for (const _ of [1, 2]) await run('memo://1', { kind: 'resource' });
    expect(stage.files.sent).toHaveLength(2);
  });

  test(verifies('cache:stale', 'a resource for as long as its server says, where that is shorter'), async () => {
    const { run, stage, clock } = await open({ offer: { resources: ['memo://1'] } });
    const read = () => run('memo://1', { kind: 'resource' });
    for (const ttlMs of [0, -1]) {
      stage.files.replies = [() => resultOf(`{"contents":[],"ttlMs":${ttlMs}}`)];
      for (const _ of [1, 2]) await read();
    }
    expect(stage.files.sent).toHaveLength(4);
    // Of two at once the last word counts.
    stage.files.replies = [50_000, 0, 50_000].map((each) => () => resultOf(`{"ttlMs":${each},"contents":[]}`));
    await Promise.all([read(), read()]);
    expect(stage.files.sent).toHaveLength(6);
    await read();
    clock.advance(40_000);
    // Who keeps it in turn must not keep it for longer.
    const { ttlMs } = valueIn(await read());
    expect(ttlMs).toBeLessThanOrEqual(10_000);
    expect(JSON.parse(textIn(await read()))).toMatchObject({ contents: [] });
    expect(stage.files.sent).toHaveLength(7);
    clock.advance(10_000);
    await read();
    expect(stage.files.sent).toHaveLength(8);
  });
});

describe('what was kept is gone', () => {
  test(verifies('cache:stale', 'after a call that may write, by whoever, and whatever became of it'), async () => {
    const { run, stage } = await open();
    await run('files_read');
    stage.files.replies = [() => failureOf('UPSTREAM_TIMEOUT', 'gave-up', true), ...counting()];
    await run('files_write', { caller: { agent: 'x', chain: ['x'], tokenId: undefined, run: 'run-2' } });
    await run('files_read');
    expect(stage.files.sent.map(({ name }) => name)).toEqual(['read', 'write', 'read']);
    stage.files.onConnect = () => Promise.reject(new Error('away'));
    stage.files.link = undefined;
    expect(await run('files_write')).toMatchObject({ kind: 'failed' });
    // It was never sent.
    expect(await run('files_read')).toMatchObject({ kind: 'result' });
  });

  test(verifies('cache:stale', 'when something was written while it was read'), async () => {
    const { run, stage } = await open();
    const [read, write] = [pending(), pending()];
    stage.files.replies = [
      () => resultOf('{"before":1}'),
      () => write.reply,
      () => read.reply,
      () => resultOf('{"late":1}'),
    ];
    expect(textIn(await run('files_read'))).toBe('{"before":1}');
    const writing = run('files_write');
    await expect.poll(() => stage.files.sent.length).toBe(2);
    const reading = run('files_read');
    await expect.poll(() => stage.files.sent.length).toBe(3);
    read.settle(resultOf('{"early":1}'));
    expect(textIn(await reading)).toBe('{"early":1}');
    // Kept, for the write may have been done before it began.
    expect(textIn(await run('files_read'))).toBe('{"early":1}');
    write.settle(resultOf('{}'));
    await writing;
    expect(textIn(await run('files_read'))).toBe('{"late":1}');
  });

  test('when the read began before the write and ended after it', async () => {
    const { run, stage } = await open();
    const read = pending();
    stage.files.replies = [() => read.reply, ...counting()];
    const reading = run('files_read');
    await expect.poll(() => stage.files.sent.length).toBe(1);
    await run('files_write');
    read.settle(resultOf('{"old":1}'));
    expect(textIn(await reading)).toBe('{"old":1}');
    expect(textIn(await run('files_read'))).toBe('{"n":2}');
  });

  test(
    verifies('cache:stale', 'when the server says that it is, all of it or one resource with its parts'),
    async () => {
      const resources = ['memo://a', 'memo://a/b', 'memo://ab'];
      const { run, stage } = await open({ offer: { resources } });
      stage.files.replies = counting();
      const readAll = async () => {
        const before = stage.files.sent.length;
        for (const uri of resources) await run(uri, { kind: 'resource' });
        return stage.files.sent.slice(before).map(({ name }) => name);
      };
      expect(await readAll()).toEqual(resources);
      stage.source.caches.stale('files', 'memo://a/b');
      expect(await readAll()).toEqual(['memo://a', 'memo://a/b']);
      stage.source.caches.stale('files', 'memo://ab');
      expect(await readAll()).toEqual(['memo://ab']);
      stage.source.caches.stale('files', 'memo://a');
      expect(await readAll()).toEqual(['memo://a', 'memo://a/b']);
      stage.source.caches.stale('other');
      expect(await readAll()).toEqual([]);
      stage.source.caches.stale('files');
      expect(await readAll()).toEqual(resources);
    },
  );

  test(verifies('cache:stale', 'when the entry of the server is another one, and when a tool is'), async () => {
    const { run, stage } = await open();
    await run('files_read');
    stage.source.caches.adopt(structuredClone(stage.source.fleet));
    await run('files_read');
    expect(stage.files.sent).toHaveLength(1);
    const shorter = withCache(stage.source.fleet, { ...settings, ttlMs: 1 });
    stage.source.caches.adopt(shorter);
    await run('files_read');
    expect(stage.files.sent).toHaveLength(2);
    stage.source.caches.adopt(withCache(shorter, settings));
    await run('files_read');
    stage.files.catalog = catalogOf([
      { name: 'read', description: 'Another', annotations: { readOnlyHint: true }, inputSchema: { type: 'object' } },
    ]);
    stage.views.renew(stage.source);
    await run('files_read');
    expect(stage.files.sent).toHaveLength(4);
    stage.source.caches.adopt(withCache(shorter, undefined));
    stage.views.renew(stage.source);
    for (const _ of [1, 2]) await run('files_read');
    expect(stage.files.sent).toHaveLength(6);
  });
});

interface Opened {
  readonly stage: CallStage;
  readonly clock: ReturnType<typeof createMovingClock>;
  run(name: string, more?: Partial<CallRequest>): Promise<CallResult>;
}

interface Opening {
  readonly files?: ServerDraft;
  readonly limits?: Parameters<typeof openCallStage>[1];
  readonly write?: typeof systemFiles.write;
  readonly seatKey?: SeatKey;
  readonly offer?: Parameters<typeof offering>[0];
}

type SeatKey = (request: { readonly agent: string }) => string;

/** A server whose `read` is known to only read, and which counts its answers. */
async function open({ files, limits, write, seatKey, offer }: Opening = {}): Promise<Opened> {
  const clock = createMovingClock();
  const draft = { access: trusting, cache: settings, ...files };
  const stage = await openCallStage(write && { write }, limits, undefined, { clock, files: draft });
  if (offer !== undefined) stage.files.catalog = offering(offer);
  if (seatKey !== undefined) seat(stage, seatKey);
  stage.files.replies = counting();
  const run = (name: string, more: Partial<CallRequest> = {}): Promise<CallResult> =>
    stage.run(stage.call(name, { args: JSON.parse(more.argumentsText ?? '{}'), ...more }));
  return { stage, clock, run };
}

/** All seats lead to the same server. */
function seat({ files }: CallStage, keyOf: SeatKey): void {
  const nothing = {
    endSession() {},
    tell() {},
    replaceSpec() {},
    retire: async () => {},
    loads: () => [],
    close: async () => {},
  };
  Object.assign(files.dispatch, { seats: { ...nothing, keyOf, at: () => files.dispatch } });
}

function counting(): [() => WireReply] {
  let count = 0;
  return [() => resultOf(`{"n":${++count}}`)];
}

function pending(): { readonly reply: Promise<WireReply>; settle(reply: WireReply): void } {
  let settle: (reply: WireReply) => void = () => {};
  const reply = new Promise<WireReply>((resolve) => {
    settle = resolve;
  });
  return { reply, settle };
}

function withCache(fleet: Fleet, cache: CacheSettings | undefined): Fleet {
  const server = fleet.servers.get('files');
  if (server?.kind !== 'ready') throw new Error('the fleet has a server named files');
  return { ...fleet, servers: new Map([['files', { ...server, spec: { ...server.spec, cache } }]]) };
}

function textIn(result: CallResult): string {
  if (result.kind !== 'result') throw new Error(`no result but ${result.kind}`);
  return result.result.text;
}

function valueIn(result: CallResult): Readonly<Record<string, unknown>> {
  if (result.kind !== 'result') throw new Error(`no result but ${result.kind}`);
  return result.result.value;
}
