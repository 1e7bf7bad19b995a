import { expect, test } from 'vitest';
import { type Abilities, type Catalog, onlyTools } from '../domain/index.ts';
import { type DiscoveryOutcome, discover } from './discovery.ts';
import { lostConnection, timedOut } from './failures.ts';
import type { Agreement } from './handshake.ts';
import { createScriptedWire, errorOf, resultOf, settle } from './scripted-wire.fixture.ts';

const plain = { name: 'echo', inputSchema: { type: 'object' } };

interface Declared {
  readonly transport?: 'stdio' | 'http';
  readonly hasTools?: boolean;
  readonly abilities?: Partial<Abilities>;
  readonly announces?: Partial<Agreement['announces']>;
  readonly before?: Catalog;
}

function begin({ transport = 'stdio', hasTools = true, abilities, announces, before }: Declared = {}) {
  const wire = createScriptedWire(transport);
  const giveUp = new AbortController();
  const declared = {
    hasTools,
    abilities: { ...onlyTools([], 0).abilities, ...abilities },
    announces: { tools: false, resources: false, prompts: false, ...announces },
  };
  const options = { now: 1234, timeoutMs: 15_000, signal: giveUp.signal, before };
  return { wire, giveUp, outcome: discover(wire, declared, options) };
}

const everything = { abilities: { resources: true, prompts: true } };

async function found(outcome: Promise<DiscoveryOutcome>) {
  const result = await outcome;
  if (result.kind === 'failed') throw new Error(result.reason);
  return result;
}

test('page after page, in the order of the server', async () => {
  const { wire, outcome } = begin();
  wire.last('tools/list').answer(resultOf({ tools: [{ ...plain, name: 'b' }], nextCursor: 'page 2' }));
  await settle();
  expect(wire.last('tools/list').params).toEqual({ cursor: 'page 2' });
  wire.last('tools/list').answer(resultOf({ tools: [{ ...plain, name: 'a' }] }));
  expect(await outcome).toMatchObject({
    kind: 'found',
    catalog: { at: 1234, warnings: [], tools: [{ name: 'b' }, { name: 'a' }] },
  });
});

test('a list without end is cut and told', async () => {
  const { wire, outcome } = begin();
  let over = false;
  void outcome.then(() => {
    over = true;
  });
  for (let page = 0; !over && page < 1000; page++) {
    wire.last('tools/list').answer(resultOf({ tools: [{ ...plain, name: `t${page}` }], nextCursor: 'again' }));
    await settle();
  }
  const { catalog } = await found(outcome);
  expect(wire.asked).toHaveLength(64);
  expect(catalog.warnings).toEqual(['tools/list did not end; 64 entries were taken']);
});

test('a list of large pages is cut at the size of one message', async () => {
  const { wire, outcome } = begin();
  const page = resultOf({ tools: [plain], nextCursor: 'again' });
  // Only its length counts.
  const large = { ...page, text: { length: 20 * 1024 * 1024 } as unknown as string };
  for (let pages = 0; pages < 4; pages++) {
    wire.last('tools/list').answer(large);
    await settle();
  }
  const { catalog } = await found(outcome);
  expect(wire.asked).toHaveLength(4);
  expect(catalog.warnings).toContain('tools/list did not end; 1 entries were taken');
});

test('a page that fails fails the whole: half a list would hide tools', async () => {
  const { wire, outcome } = begin();
  wire.last('tools/list').answer(resultOf({ tools: [plain], nextCursor: '2' }));
  await settle();
  const failure = lostConnection('files', 'gone', true);
  wire.last('tools/list').answer(failure);
  expect(await outcome).toEqual({ kind: 'failed', reason: failure.error.message, failure });
});

test.each([
  [errorOf(-32603, 'database is down'), 'database is down'],
  [resultOf({}), 'no list of tools'],
  [resultOf({ tools: 'none' }), 'no list of tools'],
])('what is no list is a failure', async (reply, reason) => {
  const { wire, outcome } = begin();
  wire.last('tools/list').answer(reply);
  expect(await outcome).toEqual({ kind: 'failed', reason, failure: undefined });
});

test('nobody waits for a list of a connection that closes', async () => {
  const { giveUp, outcome } = begin();
  giveUp.abort();
  expect(await outcome).toMatchObject({ kind: 'failed', failure: { error: { code: 'CANCELLED' } } });
});

test('bad tools are left out and told, the others stay', async () => {
  const { wire, outcome } = begin();
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
  wire.last('tools/list').answer(resultOf({ tools }));
  const { catalog } = await found(outcome);
  expect(catalog.tools.map(({ name }) => name)).toEqual(['echo']);
  expect(catalog.tools[0]?.text).not.toContain('again');
  // What is said of several is said once.
  expect(catalog.warnings).toHaveLength(4);
});

test('one page is no way around the bounds, and oddities without end are few words', async () => {
  const { wire, outcome } = begin(everything);
  const odd = Array.from({ length: 50_000 }, (_, index) => ({ name: `n${index}`, inputSchema: 'text' }));
  wire.last('tools/list').answer(resultOf({ tools: [plain, ...odd] }));
  const templates = Array.from({ length: 1000 }, (_, index) => ({ uriTemplate: `a:${index}/{x}`, name: 'x' }));
  wire.last('resources/list').answer(resultOf({ resources: [] }));
  wire.last('resources/templates/list').answer(resultOf({ resourceTemplates: templates }));
  wire.last('prompts/list').answer(resultOf({ prompts: [] }));
  const { catalog } = await found(outcome);
  expect(catalog.tools.map(({ name }) => name)).toEqual(['echo']);
  expect(catalog.templates).toHaveLength(256);
  expect(catalog.warnings).toHaveLength(21);
  expect(catalog.warnings.at(-1)).toMatch(/^and \d+ more such warnings$/);
});

test('a tool with a wrong mirrored argument is left out where headers exist', async () => {
  const inputSchema = { type: 'object', properties: { region: { type: 'string', 'x-mcp-header': 'not a token' } } };
  const bad = { name: 'bad', inputSchema };
  for (const [transport, names] of [
    ['http', []],
    ['stdio', ['bad']],
  ] as const) {
    const { wire, outcome } = begin({ transport });
    wire.last('tools/list').answer(resultOf({ tools: [bad] }));
    const { catalog } = await found(outcome);
    expect(catalog.tools.map(({ name }) => name)).toEqual(names);
    expect(catalog.warnings).toHaveLength(transport === 'http' ? 1 : 0);
  }
});

test('every list that the server has is asked for at once, and no other', async () => {
  const methods = (declared: Declared): string[] => begin(declared).wire.asked.map(({ method }) => method);
  expect(methods({})).toEqual(['tools/list']);
  expect(methods({ hasTools: false, abilities: { prompts: true } })).toEqual(['prompts/list']);
  expect(methods(everything)).toEqual(['tools/list', 'resources/list', 'resources/templates/list', 'prompts/list']);
  expect(await begin({ hasTools: false }).outcome).toMatchObject({
    kind: 'found',
    catalog: { tools: [], warnings: [] },
  });
});

test('resources, templates and prompts are read page by page; what cannot be used is left out and told', async () => {
  const { wire, outcome } = begin({ ...everything, abilities: { ...everything.abilities, subscriptions: true } });
  wire.last('tools/list').answer(resultOf({ tools: [plain] }));
  wire.last('resources/list').answer(resultOf({ resources: [{ uri: 'a:1' }, { uri: '' }, null], nextCursor: '2' }));
  wire
    .last('resources/templates/list')
    .answer(resultOf({ resourceTemplates: [{ uriTemplate: 'a:{x}', name: 'x' }, { uriTemplate: 'a\nb' }] }));
  wire.last('prompts/list').answer(resultOf({ prompts: [{ name: 'p', title: '1' }, { name: 'p', title: '2' }, {}] }));
  await settle();
  expect(wire.last('resources/list').params).toEqual({ cursor: '2' });
  wire.last('resources/list').answer(resultOf({ resources: [{ uri: 'a:2' }, { uri: 'a:1', name: 'again' }] }));
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
  const { wire, outcome } = begin({ ...everything, before });
  wire.last('tools/list').answer(resultOf({ tools: [plain] }));
  wire.last('resources/list').answer(timedOut('files', 'resources/list', 15_000));
  wire.last('resources/templates/list').answer(resultOf({ resourceTemplates: 'none' }));
  wire.last('prompts/list').answer(errorOf(-32601, 'Method not found'));
  const { catalog, askAgainMs } = await found(outcome);
  expect(catalog).toMatchObject({ tools: [{ name: 'echo' }], resources: [{ uri: 'a:1' }], templates: [], prompts: [] });
  expect(catalog.warnings).toEqual([
    'resources/list failed: Server "files" did not answer resources/list within 15 s.',
    'resources/templates/list failed: no list of resourceTemplates',
    'prompts/list failed: Method not found',
  ]);
  expect(askAgainMs).toBe(60_000);
});

const promptP = { name: 'p', text: '{"name":"p"}' };

test('a list that the server does not have after all is not asked for again', async () => {
  const { wire, outcome } = begin({ abilities: { prompts: true } });
  wire.last('tools/list').answer(resultOf({ tools: [] }));
  wire.last('prompts/list').answer(errorOf(-32601, 'Method not found'));
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
  const { wire, outcome } = begin({ abilities: { prompts: true }, announces });
  wire.last('tools/list').answer(resultOf({ tools: [], ttlMs: toolsMs }));
  wire.last('prompts/list').answer(resultOf({ prompts: [], ttlMs: promptsMs }));
  expect((await found(outcome)).askAgainMs).toBe(expected);
});
