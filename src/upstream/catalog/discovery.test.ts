import { expect, test } from 'vitest';
import { type Abilities, type Catalog, onlyTools } from '../../domain/index.ts';
import type { Agreement } from '../connecting/handshake.ts';
import { lostConnection, timedOut } from '../failures.ts';
import { createScriptedTransport, errorOf, resultOf, settle } from '../scripted-transport.fixture.ts';
import { type DiscoveryOutcome, discover } from './discovery.ts';

const plain = { name: 'echo', inputSchema: { type: 'object' } };

interface Declared {
  readonly kind?: 'stdio' | 'http';
  readonly hasTools?: boolean;
  readonly abilities?: Partial<Abilities>;
  readonly announces?: Partial<Agreement['announces']>;
  readonly before?: Catalog;
}

function begin({ kind = 'stdio', hasTools = true, abilities, announces, before }: Declared = {}) {
  const transport = createScriptedTransport(kind);
  const giveUp = new AbortController();
  const declared = {
    hasTools,
    abilities: { ...onlyTools([], 0).abilities, ...abilities },
    announces: { tools: false, resources: false, prompts: false, ...announces },
  };
  const options = { now: 1234, timeoutMs: 15_000, signal: giveUp.signal, before };
  return { transport, giveUp, outcome: discover(transport, declared, options) };
}

const everything = { abilities: { resources: true, prompts: true } };

async function found(outcome: Promise<DiscoveryOutcome>) {
  const result = await outcome;
  if (result.kind === 'failed') throw new Error(result.reason);
  return result;
}

test('page after page, in the order of the server', async () => {
  const { transport, outcome } = begin();
  transport.last('tools/list').answer(resultOf({ tools: [{ ...plain, name: 'b' }], nextCursor: 'page 2' }));
  await settle();
  expect(transport.last('tools/list').params).toEqual({ cursor: 'page 2' });
  transport.last('tools/list').answer(resultOf({ tools: [{ ...plain, name: 'a' }] }));
  expect(await outcome).toMatchObject({
    kind: 'found',
    catalog: { at: 1234, warnings: [], tools: [{ name: 'b' }, { name: 'a' }] },
  });
});

test('a list without end is cut and told', async () => {
  const { transport, outcome } = begin();
  let over = false;
  void outcome.then(() => {
    over = true;
  });
  for (let page = 0; !over && page < 1000; page++) {
    transport.last('tools/list').answer(resultOf({ tools: [{ ...plain, name: `t${page}` }], nextCursor: 'again' }));
    await settle();
  }
  const { catalog } = await found(outcome);
  expect(transport.asked).toHaveLength(64);
  expect(catalog.warnings).toEqual(['tools/list did not end; 64 entries were taken']);
});

test('a list is cut at its bound in characters, and no more is asked for', async () => {
  const { transport, outcome } = begin();
  const large = { ...plain, description: 'x'.repeat(250_000) };
  const page = (from: number) =>
    resultOf({
      tools: Array.from({ length: 5 }, (_, index) => ({ ...large, name: `t${from + index}` })),
      nextCursor: 'n',
    });
  for (let pages = 0; pages < 5; pages++) {
    transport.last('tools/list').answer(page(5 * pages));
    await settle();
  }
  const { catalog } = await found(outcome);
  expect(transport.asked).toHaveLength(5);
  expect(catalog.tools).toHaveLength(20);
  expect(catalog.warnings).toEqual(['tools/list did not end; 20 entries were taken']);
});

test('only the entries that are taken are parsed', async () => {
  const { transport, outcome } = begin({ abilities: { resources: true } });
  const templates = Array.from({ length: 400 }, (_, index) => ({ uriTemplate: `m://${index}/{a}`, name: 'm' }));
  transport.last('resources/list').answer(resultOf({ resources: [] }));
  const replies = [
    ['tools/list', resultOf({ tools: Array(30_000).fill([]) })],
    ['resources/templates/list', resultOf({ resourceTemplates: templates })],
  ] as const;
  const { parse } = JSON;
  let parsed = 0;
  JSON.parse = (source: string) => {
    parsed++;
    return parse(source);
  };
  try {
    for (const [method, reply] of replies) transport.last(method).answer(reply);
    const { catalog } = await found(outcome);
    expect(catalog.templates).toHaveLength(256);
  } finally {
    JSON.parse = parse;
  }
  expect(parsed).toBe(10_256);
});

test('a definition that is too large or too deep is left out, and the others stay', async () => {
  const { transport, outcome } = begin();
  const deep = JSON.parse(`${'{"a":'.repeat(63)}1${'}'.repeat(63)}`) as object;
  const tools = [
    { ...plain, name: 'long', description: 'x'.repeat(300_000) },
    { ...plain, name: 'deep', inputSchema: { type: 'object', properties: deep } },
    { description: 'x'.repeat(300_000) },
    { ...plain, name: 'fine', description: 'x'.repeat(200_000) },
    plain,
  ];
  transport.last('tools/list').answer(resultOf({ tools }));
  const { catalog } = await found(outcome);
  expect(catalog.tools.map(({ name }) => name)).toEqual(['fine', 'echo']);
  expect(catalog.warnings).toEqual([
    'tool "long" was left out: its definition is over 256 kB',
    'tool "deep" was left out: its definition is nested deeper than 64 levels',
    'a tool was left out: its definition is over 256 kB',
  ]);
});

test('a page that fails fails the whole: half a list would hide tools', async () => {
  const { transport, outcome } = begin();
  transport.last('tools/list').answer(resultOf({ tools: [plain], nextCursor: '2' }));
  await settle();
  const failure = lostConnection('files', 'gone', true);
  transport.last('tools/list').answer(failure);
  expect(await outcome).toEqual({ kind: 'failed', reason: failure.error.message, failure });
});

test.each([
  [errorOf(-32603, 'database is down'), 'database is down'],
  [resultOf({}), 'no list of tools'],
  [resultOf({ tools: 'none' }), 'no list of tools'],
])('what is no list is a failure', async (reply, reason) => {
  const { transport, outcome } = begin();
  transport.last('tools/list').answer(reply);
  expect(await outcome).toEqual({ kind: 'failed', reason, failure: undefined });
});

test('nobody waits for a list of a connection that closes', async () => {
  const { giveUp, outcome } = begin();
  giveUp.abort();
  expect(await outcome).toMatchObject({ kind: 'failed', failure: { error: { code: 'CANCELLED' } } });
});

test('bad tools are left out and told, the others stay', async () => {
  const { transport, outcome } = begin();
  const tools = [
    null,
    'echo',
    {},
    { name: '' },
    { name: 'x'.repeat(257), inputSchema: { type: 'object' } },
    { name: 'array', inputSchema: { type: 'array' } },
    { name: 'text', inputSchema: 'object' },
    plain,
    { ...plain, description: 'the same name again' },
  ];
  transport.last('tools/list').answer(resultOf({ tools }));
  const { catalog } = await found(outcome);
  expect(catalog.tools.map(({ name }) => name)).toEqual(['echo']);
  expect(catalog.tools[0]?.text).not.toContain('again');
  // What is said of several is said once.
  expect(catalog.warnings).toHaveLength(4);
});

test('one page is no way around the bounds, and oddities without end are few words', async () => {
  const { transport, outcome } = begin(everything);
  const odd = Array.from({ length: 50_000 }, (_, index) => ({ name: `n${index}`, inputSchema: 'text' }));
  transport.last('tools/list').answer(resultOf({ tools: [plain, ...odd] }));
  const templates = Array.from({ length: 1000 }, (_, index) => ({ uriTemplate: `a:${index}/{x}`, name: 'x' }));
  transport.last('resources/list').answer(resultOf({ resources: [] }));
  transport.last('resources/templates/list').answer(resultOf({ resourceTemplates: templates }));
  transport.last('prompts/list').answer(resultOf({ prompts: [] }));
  const { catalog } = await found(outcome);
  expect(catalog.tools.map(({ name }) => name)).toEqual(['echo']);
  expect(catalog.templates).toHaveLength(256);
  expect(catalog.warnings).toHaveLength(21);
  expect(catalog.warnings.at(-1)).toMatch(/^and \d+ more such warnings$/);
});

test('a tool with a wrong mirrored argument is left out where headers exist', async () => {
  const inputSchema = { type: 'object', properties: { region: { type: 'string', 'x-mcp-header': 'not a token' } } };
  const bad = { name: 'bad', inputSchema };
  for (const [kind, names] of [
    ['http', []],
    ['stdio', ['bad']],
  ] as const) {
    const { transport, outcome } = begin({ kind });
    transport.last('tools/list').answer(resultOf({ tools: [bad] }));
    const { catalog } = await found(outcome);
    expect(catalog.tools.map(({ name }) => name)).toEqual(names);
    expect(catalog.warnings).toHaveLength(kind === 'http' ? 1 : 0);
  }
});

test('every list that the server has is asked for at once, and no other', async () => {
  const methods = (declared: Declared): string[] => begin(declared).transport.asked.map(({ method }) => method);
  expect(methods({})).toEqual(['tools/list']);
  expect(methods({ hasTools: false, abilities: { prompts: true } })).toEqual(['prompts/list']);
  expect(methods(everything)).toEqual(['tools/list', 'resources/list', 'resources/templates/list', 'prompts/list']);
  expect(await begin({ hasTools: false }).outcome).toMatchObject({
    kind: 'found',
    catalog: { tools: [], warnings: [] },
  });
});

test('resources, templates and prompts are read page by page; what cannot be used is left out and told', async () => {
  const { transport, outcome } = begin({ ...everything, abilities: { ...everything.abilities, subscriptions: true } });
  transport.last('tools/list').answer(resultOf({ tools: [plain] }));
  transport
    .last('resources/list')
    .answer(resultOf({ resources: [{ uri: 'a:1' }, { uri: '' }, null], nextCursor: '2' }));
  transport
    .last('resources/templates/list')
    .answer(resultOf({ resourceTemplates: [{ uriTemplate: 'a:{x}', name: 'x' }, { uriTemplate: 'a\nb' }] }));
  transport
    .last('prompts/list')
    .answer(resultOf({ prompts: [{ name: 'p', title: '1' }, { name: 'p', title: '2' }, {}] }));
  await settle();
  expect(transport.last('resources/list').params).toEqual({ cursor: '2' });
  transport.last('resources/list').answer(resultOf({ resources: [{ uri: 'a:2' }, { uri: 'a:1', name: 'again' }] }));
  const { catalog } = await found(outcome);
  expect(catalog).toMatchObject({
    tools: [{ name: 'echo' }],
    resources: [{ uri: 'a:1', text: '{"uri":"a:1"}' }, { uri: 'a:2' }],
    templates: [{ uriTemplate: 'a:{x}', text: '{"uriTemplate":"a:{x}","name":"x"}' }],
    prompts: [{ name: 'p', text: '{"name":"p","title":"1"}' }],
    abilities: { resources: true, subscriptions: true, prompts: true, completions: false, logging: false },
  });
  expect(catalog.warnings).toEqual([
    'a resource without a usable uri was left out',
    'resource "a:1" is listed twice; the first one counts',
    'a resource template without a usable uriTemplate was left out',
    'prompt "p" is listed twice; the first one counts',
    'a prompt without a usable name was left out',
  ]);
});

test('a list that fails costs only itself: it stays as it was, is told and asked for again', async () => {
  const before = { ...onlyTools([], 1), resources: [{ uri: 'a:1', text: '{"uri":"a:1"}' }], prompts: [promptP] };
  const { transport, outcome } = begin({ ...everything, before });
  transport.last('tools/list').answer(resultOf({ tools: [plain] }));
  transport.last('resources/list').answer(timedOut('files', 'resources/list', 15_000));
  transport.last('resources/templates/list').answer(resultOf({ resourceTemplates: 'none' }));
  transport.last('prompts/list').answer(errorOf(-32601, 'Method not found'));
  const { catalog, askAgainMs } = await found(outcome);
  expect(catalog).toMatchObject({ tools: [{ name: 'echo' }], resources: [{ uri: 'a:1' }], templates: [], prompts: [] });
  expect(catalog.warnings).toEqual([
    'resources/list failed: Server "files" did not answer resources/list within 15 s.',
    'resources/templates/list failed: no list of resourceTemplates',
    'prompts/list failed: Method not found',
  ]);
  expect(askAgainMs).toBe(60_000);
});

const promptP = { name: 'p', text: '{"name":"p"}', fingerprint: 'sha256:1' };

test('a list that the server does not have after all is not asked for again', async () => {
  const { transport, outcome } = begin({ abilities: { prompts: true } });
  transport.last('tools/list').answer(resultOf({ tools: [] }));
  transport.last('prompts/list').answer(errorOf(-32601, 'Method not found'));
  expect((await found(outcome)).askAgainMs).toBeUndefined();
});

test.each([
  ['tools', {}, 30_000, 0, 30_000],
  ['the shortest of both', {}, 600_000, 20_000, 20_000],
  ['never more often than this', {}, 1, 0, 10_000],
  ['never less often than this', {}, 1e12, 0, 3_600_000],
  ['what is announced need not be asked for', { tools: true }, 30_000, 0, undefined],
  ['what is announced, beside what is not', { tools: true }, 20_000, 40_000, 40_000],
  ['nothing said', {}, 0, 0, undefined],
  ['nonsense', {}, -5, 'soon', undefined],
])('how long a list stays as it is: %s', async (_what, announces, toolsMs, promptsMs, expected) => {
  const { transport, outcome } = begin({ abilities: { prompts: true }, announces });
  transport.last('tools/list').answer(resultOf({ tools: [], ttlMs: toolsMs }));
  transport.last('prompts/list').answer(resultOf({ prompts: [], ttlMs: promptsMs }));
  expect((await found(outcome)).askAgainMs).toBe(expected);
});
