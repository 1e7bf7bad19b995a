import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { verifies } from '../../../test/support/verifies.ts';
import { createManualClock } from '../../base/manual-clock.fixture.ts';
import { type CallArguments, type Configuration, decideOn } from '../../domain/index.ts';
import { createPolicyCompiler, type PolicyCompiler } from '../../governance/index.ts';
import { type ConfigurationDraft, draftConfiguration } from '../../governance/policy/configuration.fixture.ts';
import { type CatalogDraft, catalogOf, catalogWith, handlesOf, sourceOf } from '../scripted-server.fixture.ts';
import { createViews, type Views } from './views.ts';

const draft: ConfigurationDraft = {
  servers: { files: {}, web: {} },
  agents: {
    dev: { servers: ['files'] },
    ops: {
      servers: ['files', 'web'],
      policy: { 'files.hidden_*': 'deny', 'files.resource:memo://hidden/*': 'deny' },
    },
  },
};
const [dev, ops] = [['dev'], ['ops']];
const tool = (name: string, description = name) => ({ name, description, inputSchema: { type: 'object' } });

test(verifies('view:change', 'a change of one server touches no view that does not see it'), () => {
  const { views, change } = stage();
  const before = { dev: views.of(dev), ops: views.of(ops) };
  change('web', [tool('get'), tool('put')]);
  expect(views.of(dev)).toBe(before.dev);
  expect(views.of(ops)).not.toBe(before.ops);
  expect(views.of(dev).digestOf('tool')).toBe(before.dev.digestOf('tool'));
  expect(views.of(ops).digestOf('tool')).not.toBe(before.ops.digestOf('tool'));
});

test(verifies('view:change', 'only tools whose fingerprint changed are decided again'), () => {
  const { views, change, decided } = stage();
  const many = Array.from({ length: 100 }, (_, index) => tool(`t${index}`));
  change('files', many);
  expect(JSON.parse(views.of(dev).toolsText)).toHaveLength(100);
  const first = decided.splice(0);
  expect(new Set(first).size).toBe(100);
  const changed = many.map((each) => (each.name === 't7' ? tool('t7', 'another text') : each));
  change('files', [...changed.toReversed(), tool('t100')]);
  expect(JSON.parse(views.of(dev).toolsText)).toHaveLength(101);
  expect(decided.splice(0).sort()).toEqual(['t100', 't7']);
  // Nobody asked for the list in between.
  change('files', [...changed, tool('t101')]);
  change('files', [...changed, tool('t102')]);
  expect(JSON.parse(views.of(dev).toolsText)).toHaveLength(101);
  expect(decided).toEqual(['t102']);
});

test('nothing is decided for a call but the tool that it names, and each once', () => {
  const { views, decided } = stage();
  views.of(dev).findTool('files_read');
  views.of(dev).findTool('files_read');
  views.of(['dev', 'ops']).findTool('files_read');
  expect(decided).toEqual(['read', 'read']);
});

test('a denied tool is in no list, and is found with its true server, tool and rule', () => {
  const { views, change } = stage();
  change('files', [tool('hidden_one'), tool('read')]);
  const view = views.of(ops);
  expect([...view.entries.keys()]).toEqual(['files_read', 'web_get']);
  expect([view.entries.size, view.entries.has('files_hidden_one')]).toEqual([2, false]);
  expect(view.entries.get('files_hidden_one')).toBeUndefined();
  expect([view.toolsText, view.toolsTextFor({ era: 'legacy', showsUi: true })].join()).not.toContain('hidden');
  expect(view.toolOf('files', 'hidden_one')).toBeUndefined();
  expect(view.toolBySubject('files.hidden_one')).toBeUndefined();
  expect(view.findTool('files_hidden_one')).toMatchObject({
    server: 'files',
    subjectName: 'hidden_one',
    decision: { effect: 'deny', reason: { kind: 'rule', pattern: 'files.hidden_*' } },
  });
  expect(views.of(dev).findTool('web_get')).toMatchObject({
    server: 'web',
    decision: { effect: 'deny', reason: { kind: 'not-routed' } },
  });
});

test(verifies('view:change', 'a digest tells nothing of tools that the agent may not see'), () => {
  const { views, change } = stage();
  change('files', [tool('hidden_one'), tool('read')]);
  const before = { dev: views.of(dev).digestOf('tool'), ops: views.of(ops).digestOf('tool') };
  change('files', [tool('hidden_one', 'changed'), tool('hidden_two'), tool('read')]);
  expect(views.of(ops).digestOf('tool')).toBe(before.ops);
  expect(views.of(dev).digestOf('tool')).not.toBe(before.dev);
});

test('a digest changes with every change of the list, and comes back with the list', () => {
  const { views, change } = stage();
  const lists = [
    [tool('a')],
    [tool('a'), tool('b')],
    [tool('b')],
    [tool('a', 'changed')],
    [{ ...tool('a'), _meta: { x: 1 } }],
    [],
  ];
  const digests = lists.map((list) => {
    change('files', list);
    return views.of(dev).digestOf('tool');
  });
  expect(new Set(digests).size).toBe(lists.length);
  change('files', [tool('b'), tool('a')]);
  expect(views.of(dev).digestOf('tool')).toBe(digests[1]);
});

test(verifies('view:change', 'only resources and prompts that are new are decided again'), () => {
  const { views, offer, read } = stage();
  const uris = Array.from({ length: 100 }, (_, index) => `memo://${index}`);
  offer('files', { resources: uris, prompts: ['greet'] });
  expect(views.of(dev).listed('resource')).toHaveLength(100);
  expect(JSON.parse(views.of(dev).promptsText)).toHaveLength(1);
  expect(new Set(read.splice(0)).size).toBe(101);
  const renamed = uris.map((uri) => (uri === 'memo://7' ? { uri, name: 'another text' } : uri));
  offer('files', { resources: [...renamed.toReversed(), 'memo://100'], prompts: ['greet'] });
  expect(views.of(dev).resourcesText).toContain('another text');
  expect(views.of(dev).listed('resource')).toHaveLength(101);
  expect(JSON.parse(views.of(dev).promptsText)).toHaveLength(1);
  expect(read.splice(0)).toEqual(['resource:memo://100']);
  // Nobody asked for the list in between.
  offer('files', { resources: [...uris, 'memo://101'] });
  offer('files', { resources: [...uris, 'memo://102'] });
  expect(views.of(dev).listed('resource')).toHaveLength(101);
  expect(read).toEqual(['resource:memo://102']);
});

test('nothing is decided for a read but the resource that it names, and a listed one is not decided again', () => {
  const { views, offer, read } = stage();
  offer('files', { resources: ['memo://1', 'memo://2'], prompts: ['greet', 'leave'] });
  views.of(dev).find('resource', 'memo://1');
  views.of(dev).find('prompt', 'files_greet');
  expect(read.splice(0)).toEqual(['resource:memo://1', 'prompt:greet']);
  views.of(dev).listed('resource');
  read.splice(0);
  views.of(dev).find('resource', 'memo://2');
  expect(read).toEqual([]);
});

test(
  verifies('view:change', 'a digest of resources changes with the visible list alone, and comes back with it'),
  () => {
    const { views, offer } = stage();
    const digestOf = (resources: readonly (string | { readonly uri: string })[]): string => {
      offer('files', { resources });
      return views.of(ops).digestOf('resource');
    };
    const one = digestOf(['memo://1']);
    const two = digestOf(['memo://1', 'memo://2']);
    expect(digestOf(['memo://1', 'memo://2', 'memo://hidden/1'])).toBe(two);
    expect(digestOf([{ uri: 'memo://1', name: 'changed' } as { uri: string }, 'memo://2'])).not.toBe(two);
    expect(digestOf(['memo://2', 'memo://1'])).toBe(two);
    expect(digestOf(['memo://1'])).toBe(one);
    expect(new Set([one, two, digestOf([])]).size).toBe(3);
  },
);

test('a URI that a list had no work left for is decided in the next list', () => {
  const { views, offer } = stage();
  const hostile = Array.from({ length: 1500 }, (_, index) => `x://${index}${'%25'.repeat(600)}`);
  const has = (): boolean =>
    views
      .of(ops)
      .listed('resource')
      .some(({ name }) => name === 'memo://last');
  offer('files', { resources: [...hostile, 'memo://last'] });
  const digest = views.of(ops).digestOf('resource');
  expect([has(), views.of(ops).find('resource', 'memo://last')?.decision.effect]).toEqual([false, 'allow']);
  offer('files', { resources: [...hostile.slice(0, 1), 'memo://last'] });
  expect([has(), views.of(ops).digestOf('resource') === digest]).toEqual([true, false]);
});

test('nothing keeps the views and lists before a change', async () => {
  const { views, offer, change } = stage();
  const earlier: WeakRef<object>[] = [];
  const look = (): void => {
    const view = views.of(ops);
    for (const list of ['tool', 'resource', 'template', 'prompt'] as const) view.digestOf(list);
    expect([view.entries.size > 0, view.find('resource', 'memo://1')?.server]).toEqual([true, 'files']);
    earlier.push(new WeakRef(view));
  };
  for (let round = 0; round < 10; round++) {
    offer('files', { resources: ['memo://1', `memo://x${round}`], templates: ['memo://{id}'] });
    look();
    change('web', [tool(`t${round}`)]);
    look();
  }
  const collect = garbageCollector();
  for (let turn = 0; turn < 3; turn++) {
    await new Promise((resolve) => setImmediate(resolve));
    collect();
  }
  expect(earlier.filter((view) => view.deref() !== undefined).length).toBeLessThanOrEqual(2);
});

test('agents with the same right share the decision', () => {
  const { views } = stage();
  const decision = views.of(dev).findTool('files_read')?.decision;
  expect(views.of(ops).findTool('files_read')?.decision).toBe(decision);
});

test('decisions that look alike keep their own conditions', () => {
  const [inEtc, isLarge] = [
    ({ path }: CallArguments): boolean => path === '/etc',
    ({ amount }: CallArguments): boolean => Number(amount) > 100,
  ];
  const policy = {
    'files.delete': { effect: 'deny', when: inEtc },
    'files.pay': { effect: 'deny', when: isLarge },
  } as const;
  const configuration = draftConfiguration({ servers: { files: {} }, policy });
  const servers = handlesOf(configuration, { files: ['any', 'delete', 'pay'].map((name) => tool(name)) });
  const effectIn = (views: Views, name: string, args: CallArguments): string | undefined => {
    const decision = views.of(dev).findTool(`files_${name}`)?.decision;
    return decision && decideOn(decision, { args }).effect;
  };
  for (const order of [
    ['any', 'delete', 'pay'],
    ['pay', 'delete', 'any'],
    ['delete', 'any', 'pay'],
  ]) {
    const views = createViews({ clock: createManualClock() }, sourceOf(configuration, servers));
    for (const name of order) expect(effectIn(views, name, {})).toBe('allow');
    const effects = ['any', 'delete', 'pay'].map((name) => [
      effectIn(views, name, { path: '/etc' }),
      effectIn(views, name, { amount: 1000 }),
    ]);
    expect(effects).toEqual([
      ['allow', 'allow'],
      ['deny', 'allow'],
      ['allow', 'deny'],
    ]);
  }
});

function stage() {
  const configuration = draftConfiguration(draft);
  const servers = handlesOf(configuration, { files: [tool('read')], web: [tool('get')] });
  const source = sourceOf(configuration, servers);
  const decided: string[] = [];
  const read: string[] = [];
  const policyCompiler = (from: Configuration): PolicyCompiler => {
    const compile = createPolicyCompiler(from);
    return (chain) => {
      const policy = compile(chain);
      return {
        ...policy,
        decide(server, tool, name, hints) {
          decided.push(tool);
          return policy.decide(server, tool, name, hints);
        },
        decideRead(server, subject, origin, budget) {
          read.push(subject);
          return policy.decideRead(server, subject, origin, budget);
        },
      };
    };
  };
  const views = createViews({ clock: createManualClock(), policyCompiler }, source);
  return {
    views,
    decided,
    read,
    offer(name: string, draft: CatalogDraft) {
      const server = servers.get(name);
      if (server !== undefined) server.catalog = catalogWith(draft);
      views.renew(source);
    },
    change(name: string, tools: readonly object[]) {
      const server = servers.get(name);
      if (server !== undefined) server.catalog = catalogOf(tools);
      views.renew(source);
    },
  };
}

function garbageCollector(): () => void {
  setFlagsFromString('--expose-gc');
  return runInNewContext('gc') as () => void; // what the flag exposes
}
