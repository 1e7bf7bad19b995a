import { describe, expect, test } from 'vitest';
import { createMovingClock } from '../../../test/support/moving-clock.ts';
import { verifies } from '../../../test/support/verifies.ts';
import type { CacheSettings, Configuration } from '../../domain/index.ts';
import type { ConfiguredServerDraft } from '../../governance/policy/configuration.fixture.ts';
import { systemFiles } from '../../ledger/journal/file-operations.ts';
import { clientCapabilitiesOf } from '../../mcp/index.ts';
import type { UpstreamReply } from '../../upstream/index.ts';
import type { CallRequest, CallResult } from '../call.ts';
import { type CallStage, openCallStage, textIn, valueIn } from '../call-stage.fixture.ts';
import { catalogOf, catalogWith, failureOf, scriptedResult } from '../scripted-server.fixture.ts';

const settings: CacheSettings = { ttlMs: 60_000, maxBytes: 1_000_000, tools: undefined, resources: true };
const trusting = { trustAnnotations: true };

describe('the same call', () => {
  test(verifies('cache:same-call', 'is answered without its server, by the text that it sent'), async () => {
    const { run, stage, clock } = await open();
    stage.files.replies = [
      () => scriptedResult('{ "content":[{"n":12345678901234567890, "s":"\\u00e9é"}]}'),
      ...counting(),
    ];
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
      stage.files.connection = undefined;
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
      expect(stage.inFlight.size + stage.files.held).toBe(0);
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
    for (const can of [{}, { elicitation: {} }, {}, { elicitation: {} }, { sampling: {} }]) {
      const client = {
        principal: 'p',
        session: undefined,
        clientCapabilities: clientCapabilitiesOf(can),
        takesInputRequired: false,
      };
      await run('files_read', { client });
    }
    expect(stage.files.sent.map(({ capabilities }) => capabilities)).toEqual([
      '{}',
      clientCapabilitiesOf({ elicitation: {} }).text,
      clientCapabilitiesOf({ sampling: {} }).text,
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

  test(verifies('cache:rights', 'of a shared connection are shared, those of an isolated one are not'), async () => {
    const { run, stage } = await open();
    const as = (agent: string) => ({
      caller: { agent, project: 'workspace', chain: [agent], tokenId: undefined, run: 'run-1' },
    });
    for (const agent of ['a', 'b']) await run('files_read', as(agent));
    expect(stage.files.sent).toHaveLength(1);
    const isolated = await open({ ownerKey: ({ agent }) => agent });
    for (const agent of ['a', 'b', 'a', 'b']) await isolated.run('files_read', as(agent));
    expect(isolated.stage.files.sent).toHaveLength(2);
  });
});

describe('kept is', () => {
  const bad: readonly [string, UpstreamReply][] = [
    ['an error of the tool', scriptedResult('{"isError":true,"content":[]}')],
    ['an error of the server', { kind: 'error', id: 1, text: '{}', code: -1, message: 'no' }],
    ['a failure', failureOf('UPSTREAM_TIMEOUT', 'gave-up', true)],
    ['a question', scriptedResult('{"resultType":"input_required","inputRequests":{}}')],
    ['a task', scriptedResult('{"resultType":"task","taskId":"1"}')],
    ['something unheard of', scriptedResult('{"resultType":"dream"}')],
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
        await request.handlers?.ask({ method: 'roots/list', params: {}, paramsText: '{}' });
        return scriptedResult('{"roots":1}');
      },
      ...counting(),
    ];
    const channel = { ask: async () => ({ kind: 'result', text: '{}' }) as const };
    const client = {
      principal: 'p',
      session: 's',
      clientCapabilities: clientCapabilitiesOf({ roots: {} }),
      takesInputRequired: false,
    };
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
    const { run, stage } = await open({ serverCatalog: { resources: ['memo://1'], prompts: ['greet'] } });
    stage.files.replies = [() => scriptedResult('{"contents":[{"uri":"memo://1#a","text":"x"}]}')];
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
    const { run, stage } = await open({ files: { cache }, serverCatalog: { resources: ['memo://1'] } });
    for (const _ of [1, 2]) await run('memo://1', { kind: 'resource' });
    expect(stage.files.sent).toHaveLength(2);
  });

  test(verifies('cache:stale', 'a resource for as long as its server says, where that is shorter'), async () => {
    const { run, stage, clock } = await open({ serverCatalog: { resources: ['memo://1'] } });
    const read = () => run('memo://1', { kind: 'resource' });
    for (const ttlMs of [0, -1]) {
      stage.files.replies = [() => scriptedResult(`{"contents":[],"ttlMs":${ttlMs}}`)];
      for (const _ of [1, 2]) await read();
    }
    expect(stage.files.sent).toHaveLength(4);
    // Of two at once the last word counts.
    stage.files.replies = [50_000, 0, 50_000].map((each) => () => scriptedResult(`{"ttlMs":${each},"contents":[]}`));
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
    await run('files_write', {
      caller: { agent: 'x', project: 'workspace', chain: ['x'], tokenId: undefined, run: 'run-2' },
    });
    await run('files_read');
    expect(stage.files.sent.map(({ name }) => name)).toEqual(['read', 'write', 'read']);
    stage.files.onConnect = () => Promise.reject(new Error('away'));
    stage.files.connection = undefined;
    expect(await run('files_write')).toMatchObject({ kind: 'failed' });
    // It was never sent.
    expect(await run('files_read')).toMatchObject({ kind: 'result' });
  });

  test(verifies('cache:stale', 'when something was written while it was read'), async () => {
    const { run, stage } = await open();
    const [read, write] = [pending(), pending()];
    stage.files.replies = [
      () => scriptedResult('{"before":1}'),
      () => write.reply,
      () => read.reply,
      () => scriptedResult('{"late":1}'),
    ];
    expect(textIn(await run('files_read'))).toBe('{"before":1}');
    const writing = run('files_write');
    await expect.poll(() => stage.files.sent.length).toBe(2);
    const reading = run('files_read');
    await expect.poll(() => stage.files.sent.length).toBe(3);
    read.settle(scriptedResult('{"early":1}'));
    expect(textIn(await reading)).toBe('{"early":1}');
    // Kept, for the write may have been done before it began.
    expect(textIn(await run('files_read'))).toBe('{"early":1}');
    write.settle(scriptedResult('{}'));
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
    read.settle(scriptedResult('{"old":1}'));
    expect(textIn(await reading)).toBe('{"old":1}');
    expect(textIn(await run('files_read'))).toBe('{"n":2}');
  });

  test(
    verifies('cache:stale', 'when the server says that it is, all of it or one resource with its parts'),
    async () => {
      const resources = ['memo://a', 'memo://a/b', 'memo://ab'];
      const { run, stage } = await open({ serverCatalog: { resources } });
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
    stage.source.caches.adopt(structuredClone(stage.source.configuration));
    await run('files_read');
    expect(stage.files.sent).toHaveLength(1);
    const shorter = withCache(stage.source.configuration, { ...settings, ttlMs: 1 });
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
    const without = withCache(shorter, undefined);
    stage.source.caches.adopt(without);
    stage.views.renew({ ...stage.source, configuration: without });
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
  readonly files?: ConfiguredServerDraft;
  readonly limits?: Parameters<typeof openCallStage>[1];
  readonly write?: typeof systemFiles.write;
  readonly ownerKey?: OwnerKey;
  readonly serverCatalog?: Parameters<typeof catalogWith>[0];
}

type OwnerKey = (request: { readonly agent: string }) => string;

/** A server whose `read` is known to only read, and which counts its answers. */
async function open({ files, limits, write, ownerKey, serverCatalog }: Opening = {}): Promise<Opened> {
  const clock = createMovingClock();
  const draft = { access: trusting, cache: settings, ...files };
  const stage = await openCallStage(write && { write }, limits, undefined, { clock, files: draft });
  if (serverCatalog !== undefined) stage.files.catalog = catalogWith(serverCatalog);
  stage.views.renew(stage.source);
  if (ownerKey !== undefined) owner(stage, ownerKey);
  stage.files.replies = counting();
  const run = (name: string, more: Partial<CallRequest> = {}): Promise<CallResult> =>
    stage.run(stage.call(name, { args: JSON.parse(more.argumentsText ?? '{}'), ...more }));
  return { stage, clock, run };
}

/** All isolated connections lead to the same server. */
function owner({ files }: CallStage, keyOf: OwnerKey): void {
  const nothing = {
    endSession() {},
    tell() {},
    replaceSpec() {},
    retire: async () => {},
    loads: () => [],
    close: async () => {},
  };
  Object.assign(files.dispatch, { isolated: { ...nothing, keyOf, at: () => files.dispatch } });
}

function counting(): [() => UpstreamReply] {
  let count = 0;
  return [() => scriptedResult(`{"n":${++count}}`)];
}

function pending(): { readonly reply: Promise<UpstreamReply>; settle(reply: UpstreamReply): void } {
  let settle: (reply: UpstreamReply) => void = () => {};
  const reply = new Promise<UpstreamReply>((resolve) => (settle = resolve));
  return { reply, settle };
}

function withCache(configuration: Configuration, cache: CacheSettings | undefined): Configuration {
  const server = configuration.servers.get('files');
  if (server?.kind !== 'ready') throw new Error('the configuration has a server named files');
  return { ...configuration, servers: new Map([['files', { ...server, spec: { ...server.spec, cache } }]]) };
}
