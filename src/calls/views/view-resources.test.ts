import { expect, test } from 'vitest';
import { verifies } from '../../../test/support/verifies.ts';
import { createManualClock } from '../../base/manual-clock.fixture.ts';
import { compilePolicy } from '../../governance/index.ts';
import { type ConfigurationDraft, draftConfiguration } from '../../governance/policy/configuration.fixture.ts';
import { type CatalogDraft, catalogWith, handlesOf, sourceOf } from '../scripted-server.fixture.ts';
import type { Target } from '../target.ts';
import type { ReadKind } from './read-target.ts';
import { buildView, type View } from './view.ts';
import { createViews } from './views.ts';

const notes = {
  resources: ['memo://notes/1', 'memo://notes/2'],
  templates: ['memo://notes/{id}'],
  prompts: ['greet', 'part ways'],
};

test(
  verifies(
    'view:resources',
    'resources, templates and prompts are listed as their server wrote them, under exposed names',
  ),
  () => {
    const resource = { uri: 'memo://1', name: 'uri', description: 'says "uri"\n', _meta: { uri: 'x' } };
    const prompt = { name: 'greet', arguments: [{ name: 'greet', required: true }] };
    const view = viewOf(
      { servers: { a: {}, 'b.c': {} } },
      {
        'b.c': { resources: ['memo://1', 'memo://0'], templates: ['memo://{id}'], prompts: ['greet'] },
        a: { resources: [resource], templates: ['memo://{id}'], prompts: [prompt] },
      },
    );
    expect(JSON.parse(view.resourcesText)).toEqual([{ uri: 'b.c+memo://0' }, { uri: 'b.c+memo://1' }, resource]);
    expect(JSON.parse(view.templatesText)).toEqual([
      { uriTemplate: 'b.c+memo://{id}' },
      { uriTemplate: 'memo://{id}' },
    ]);
    expect(JSON.parse(view.promptsText)).toEqual([{ ...prompt, name: 'a_greet' }, { name: 'b_c_greet' }]);
  },
);

test('a resource that is listed is read under the URI that is listed', () => {
  const view = viewOf({ servers: { a: {}, b: {} } }, { a: notes, b: notes });
  for (const { uri } of JSON.parse(view.resourcesText) as { uri: string }[]) {
    expect(view.find('resource', uri)).toMatchObject({
      name: uri,
      server: uri.startsWith('b+') ? 'b' : 'a',
      ownName: uri.replace('b+', ''),
    });
  }
  expect(view.find('resource', 'memo://notes/1')).toMatchObject({
    kind: 'resource',
    server: 'a',
    subjectName: 'resource:memo://notes/1',
    decision: { effect: 'allow', reason: { kind: 'default' } },
    method: 'resources/read',
    callHead: '"uri":"memo://notes/1"',
    carries: 'nothing',
    mirrored: [],
    safeToRepeat: true,
  });
  expect(view.find('resource', 'a+memo://notes/1')).toMatchObject({ server: 'a', ownName: 'memo://notes/1' });
  expect(view.find('resource', 'A+memo://notes/1')).toMatchObject({ server: 'a', ownName: 'memo://notes/1' });
});

test('a prompt is got by its exposed name, and only by that', () => {
  const view = viewOf({ servers: { a: {} } }, { a: notes });
  expect(view.find('prompt', 'a_part_ways')).toMatchObject({
    kind: 'prompt',
    name: 'a_part_ways',
    subjectName: 'prompt:part ways',
    method: 'prompts/get',
    ownName: 'part ways',
    callHead: '"name":"part ways","arguments":',
    carries: 'arguments',
    safeToRepeat: true,
  });
  expect(['greet', 'a_', 'prompt:greet', ''].map((name) => view.find('prompt', name))).toEqual(
    Array(4).fill(undefined),
  );
});

test(verifies('names:order', 'a URI goes to the first server that lists it or has a template for it'), () => {
  const view = viewOf(
    { servers: { a: {}, b: {} } },
    {
      a: { templates: ['memo://{+path}'], resources: ['log://1'] },
      b: { templates: ['memo://notes/{id}', 'log://{n}'], resources: ['memo://mine'] },
    },
  );
  const server = (uri: string) => view.find('resource', uri)?.server;
  // Neither a more specific template nor an entry in a list takes it from the first.
  for (const uri of ['memo://notes/7', 'memo://mine', 'log://1']) expect(server(uri)).toBe('a');
  expect(server('log://2')).toBe('b');
  // What the other lists can be read all the same, under the URI that is in the list.
  const listed = view.listed('resource').map(({ name, server }) => [name, server]);
  expect(listed).toEqual([
    ['b+memo://mine', 'b'],
    ['log://1', 'a'],
  ]);
  for (const [name = '', owner] of listed) expect(server(name)).toBe(owner);
});

test('what is not in a list goes to the first template, then to the only server of its scheme', () => {
  const view = viewOf(
    { servers: { a: {}, b: {}, c: {}, d: {} } },
    {
      a: { templates: ['memo://{+path}', 'log://{day}'] },
      b: { templates: ['memo://notes/{id}', 'log://{day}'] },
      c: { resources: ['db://rows/1', 'HTTP://x/'] },
      d: { templates: ['{+anything}'] },
    },
  );
  const server = (uri: string) => view.find('resource', uri)?.server;
  expect(server('memo://notes/7')).toBe('a');
  expect(server('memo://other/7')).toBe('a');
  expect(server('log://monday')).toBe('a');
  expect(server('db://rows/2')).toBe('c');
  expect(server('DB://rows/2')).toBe('c');
  expect(server('http://x/y')).toBe('c');
  expect(server('file:///etc/passwd')).toBe('d');
});

test('a scheme that two servers have, or none, leads nowhere', () => {
  const view = viewOf(
    { servers: { a: {}, b: {}, c: {} } },
    {
      a: { resources: ['memo://1'] },
      b: { resources: ['memo://2'] },
      c: { resources: [], abilities: { resources: false } },
    },
  );
  const uris = ['memo://3', 'other://1', 'memo', '', 'c+memo://1', `memo://1${'x'.repeat(5000)}`, 'x+memo://1'];
  for (const uri of uris) expect(view.find('resource', uri)).toBeUndefined();
  expect(view.find('resource', 'b+memo://3')).toMatchObject({ server: 'b', ownName: 'memo://3' });
});

test(
  verifies('view:resources-hidden', 'what is denied is neither listed nor found, under no name and no spelling'),
  () => {
    const draft: ConfigurationDraft = {
      servers: { a: {} },
      policy: { 'a.resource:memo://notes/1': 'deny', 'a.resource:memo://secret/*': 'deny', 'a.prompt:greet': 'deny' },
    };
    const view = viewOf(draft, { a: { ...notes, templates: ['memo://{+path}'] } });
    expect(JSON.parse(view.resourcesText)).toEqual([{ uri: 'memo://notes/2' }]);
    expect(JSON.parse(view.promptsText)).toEqual([{ name: 'a_part ways'.replace(' ', '_') }]);
    const spellings = [
      'memo://notes/1',
      'a+memo://notes/1',
      'memo://notes/x/../1',
      'memo://notes/%31',
      'memo://notes/1#x',
      'memo://notes/1?x=1',
      'MEMO://notes/1',
      'memo://notes/\t1',
      'memo://secret/a',
      'memo://secret/a/../b',
      'memo://secret%2Fa',
      'memo://notes/../secret/a',
      'memo:///notes/1',
      'memo://notes//1',
      'memo://NOTES/1',
      'memo://me@notes/1',
      'memo://notes/%2531',
      'memo://notes\\1',
      'a+memo:///notes//1',
      'memo:/secret/a',
      'memo://x@secret./a',
    ];
    for (const uri of spellings) {
      expect([uri, view.find('resource', uri)]).toEqual([uri, undefined]);
      expect([uri, view.find('subscription', uri)]).toEqual([uri, undefined]);
      expect([uri, view.find('completion', `resource:${uri}`)]).toEqual([uri, undefined]);
    }
    expect(view.find('resource', 'memo://notes/3')?.server).toBe('a');
    expect(view.find('prompt', 'a_greet')).toBeUndefined();
    expect(view.find('completion', 'prompt:a_greet')).toBeUndefined();
  },
);

test(
  verifies('view:resources-hidden', 'what is denied is found for the record, with its server and the reason'),
  () => {
    const draft: ConfigurationDraft = {
      servers: { a: {}, b: {}, c: {} },
      agents: { dev: { servers: ['b', 'c'] } },
      policy: { 'b.resource:memo://notes/*': 'deny', 'c.prompt:greet': 'deny' },
    };
    const view = viewOf(draft, { a: notes, b: notes, c: { prompts: ['greet'], resources: ['log://1'] } });
    const denied = (kind: ReadKind, name: string) => {
      const target = view.findDenied(kind, name);
      return target && [target.server, target.subjectName, target.decision.reason.kind];
    };
    // The agent has no server a, but what it asks for is denied by a rule on b.
    expect(denied('resource', 'memo://notes/1')).toEqual(['b', 'resource:memo://notes/1', 'rule']);
    expect(denied('subscription', 'memo://notes/7')).toEqual(['b', 'resource:memo://notes/7', 'rule']);
    expect(denied('resource', 'a+memo://notes/1')).toEqual(['a', 'resource:memo://notes/1', 'not-routed']);
    expect(denied('prompt', 'a_greet')).toEqual(['a', 'prompt:greet', 'not-routed']);
    expect(denied('completion', 'prompt:c_greet')).toEqual(['c', 'prompt:greet', 'rule']);
    // What the agent may read and what nobody has are not denied.
    expect([denied('resource', 'log://1'), denied('resource', 'other://1'), denied('prompt', 'x')]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  },
);

test('a template that is denied takes with it what has its form, but not what a rule names', () => {
  const view = viewOf(
    { servers: { a: {} }, policy: { 'a.resource:memo://{id}': 'deny', 'a.resource:memo://7': 'allow' } },
    { a: { templates: ['memo://{id}'], resources: ['memo://list/of/all'] } },
  );
  expect(view.templatesText).toBe('[]');
  expect(view.find('resource', 'memo://8')).toBeUndefined();
  expect(view.find('resource', 'memo://x/../8')).toBeUndefined();
  expect(view.find('resource', 'memo://7')?.ownName).toBe('memo://7');
  expect(view.find('resource', 'memo://list/of/all')?.ownName).toBe('memo://list/of/all');
});

test('a server whose resource is hidden leaves the URI to the next that the agent may read', () => {
  const view = viewOf(
    { servers: { a: {}, b: {} }, policy: { 'a.resource:*': 'deny' } },
    { a: { templates: ['memo://notes/{id}'] }, b: { templates: ['memo://{+path}'] } },
  );
  expect(view.find('resource', 'memo://notes/1')?.server).toBe('b');
  expect(view.find('resource', 'a+memo://notes/1')).toBeUndefined();
});

test('what a rule asks a human for is there, with that decision', () => {
  const view = viewOf(
    {
      servers: { a: {} },
      policy: { 'a.resource:memo://notes/*': 'require-approval', 'a.prompt:*': 'require-approval' },
    },
    { a: notes },
  );
  expect(view.find('resource', 'memo://notes/1')?.decision.effect).toBe('ask');
  expect(view.find('resource', 'memo://notes/unlisted')?.decision.effect).toBe('ask');
  expect(view.find('prompt', 'a_greet')?.decision.effect).toBe('ask');
});

test('only servers that the agent has are searched', () => {
  const draft = { servers: { a: {}, b: {} }, agents: { dev: { servers: ['b'] } } };
  const view = viewOf(draft, { a: notes, b: { ...notes, prompts: [] } });
  expect(JSON.parse(view.resourcesText)).toEqual([{ uri: 'b+memo://notes/1' }, { uri: 'b+memo://notes/2' }]);
  expect(view.promptsText).toBe('[]');
  expect(view.find('resource', 'a+memo://notes/1')).toBeUndefined();
  expect(view.find('resource', 'memo://notes/1')?.server).toBe('b');
});

test('a subscription needs a server that tells of changes', () => {
  const view = viewOf(
    { servers: { a: {}, b: {} } },
    {
      a: { resources: ['memo://1'], abilities: { subscriptions: false } },
      b: { resources: ['log://1'] },
    },
  );
  expect(view.find('subscription', 'memo://1')).toBeUndefined();
  expect(view.find('resource', 'memo://1')?.server).toBe('a');
  expect(view.find('subscription', 'log://1')).toMatchObject({
    kind: 'subscription',
    method: 'resources/subscribe',
    callHead: '"uri":"log://1"',
    carries: 'nothing',
  });
});

test('a completion names the thing as its server does', () => {
  const view = viewOf(
    { servers: { a: {}, b: {}, c: {} } },
    {
      a: notes,
      b: notes,
      c: { ...notes, abilities: { completions: false } },
    },
  );
  expect(view.find('completion', 'prompt:b_greet')).toMatchObject({
    kind: 'completion',
    server: 'b',
    subjectName: 'prompt:greet',
    method: 'completion/complete',
    callHead: '"ref":{"type":"ref/prompt","name":"greet"}',
    carries: 'members',
  });
  const template = '"ref":{"type":"ref/resource","uri":"memo://notes/{id}"}';
  const ofA = { server: 'a', subjectName: 'resource:memo://notes/{id}', callHead: template };
  expect(view.find('completion', 'resource:memo://notes/{id}')).toMatchObject(ofA);
  expect(view.find('completion', 'resource:a+memo://notes/{id}')).toMatchObject(ofA);
  expect(view.find('completion', 'resource:b+memo://notes/{id}')).toMatchObject({ ...ofA, server: 'b' });
  expect(view.find('completion', 'resource:b+memo://notes/1')).toMatchObject({
    server: 'b',
    ownName: 'memo://notes/1',
  });
  for (const name of ['prompt:c_greet', 'resource:c+memo://notes/{id}', 'a_greet', 'tool:a_greet', 'prompt:', '']) {
    expect(view.find('completion', name)).toBeUndefined();
  }
});

test('reading the same again takes what was found before, and few are kept', () => {
  const view = viewOf({ servers: { a: {} } }, { a: notes });
  const first = view.find('resource', 'memo://notes/1');
  expect(view.find('resource', 'memo://notes/1')).toBe(first);
  for (let id = 0; id < 300; id++) expect(view.find('resource', `memo://notes/x${id}`)).toBeDefined();
  const again: Target | undefined = view.find('resource', 'memo://notes/1');
  expect(again).not.toBe(first);
  expect(again).toEqual(first);
});

test('a view that somebody holds keeps what it had', () => {
  const { servers, source } = stage({ servers: { a: {} } }, { a: notes });
  const views = createViews({ clock: createManualClock() }, source);
  const before = views.of(['dev']);
  const a = servers.get('a');
  if (a !== undefined) a.catalog = catalogWith({});
  views.renew(source);
  expect(before.find('resource', 'memo://notes/1')?.server).toBe('a');
  expect(views.of(['dev']).find('resource', 'memo://notes/1')).toBeUndefined();
});

test('who has a short URI or a name does not depend on which agent asks first', () => {
  const draft = { servers: { a: {}, b: {} }, agents: { dev: { servers: ['b'] } } };
  const { source } = stage(draft, { a: notes, b: notes });
  const views = createViews({ clock: createManualClock() }, source);
  expect(JSON.parse(views.of(['dev']).templatesText)).toEqual([{ uriTemplate: 'b+memo://notes/{id}' }]);
});

function viewOf(draft: ConfigurationDraft, serverCatalogs: Readonly<Record<string, CatalogDraft>>): View {
  const { configuration, source } = stage(draft, serverCatalogs);
  createViews({ clock: createManualClock() }, source);
  return buildView(source, compilePolicy(configuration, ['dev']), ['dev']);
}

function stage(draft: ConfigurationDraft, serverCatalogs: Readonly<Record<string, CatalogDraft>>) {
  const configuration = draftConfiguration(draft);
  const servers = handlesOf(configuration, {});
  for (const [name, server] of servers) server.catalog = catalogWith(serverCatalogs[name] ?? {});
  return { configuration, servers, source: sourceOf(configuration, servers) };
}
