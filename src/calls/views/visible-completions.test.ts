import { expect, test } from 'vitest';
import { verifies } from '../../../test/support/verifies.ts';
import { compilePolicy } from '../../governance/index.ts';
import { draftConfiguration } from '../../governance/policy/configuration.fixture.ts';
import { catalogWith, handlesOf, sourceOf } from '../scripted-server.fixture.ts';
import type { Target } from '../target.ts';
import { buildView, type View } from './view.ts';
import { visibleCompletions } from './visible-completions.ts';

const name = { argument: { name: 'name', value: '' } };
const inNotes = { ...name, context: { arguments: { folder: 'notes' } } };

test(
  verifies('view:resources-hidden', 'a value that leads to a denied resource is not proposed, and is not counted'),
  () => {
    const { view, target } = stage('resource:memo://{folder}/{name}');
    const completion = { values: ['plan', 'salaries', 'x/../../secret/a'], total: 40, hasMore: true };
    expect(visibleCompletions(view, target, inNotes, completion)).toEqual({
      values: ['plan'],
      total: 38,
      hasMore: true,
    });
    const inSecret = { ...name, context: { arguments: { folder: 'secret' } } };
    expect(visibleCompletions(view, target, inSecret, { values: ['a', 'b'], total: 2 })).toEqual({
      values: [],
      total: 0,
    });
    expect(visibleCompletions(view, target, inSecret, { values: ['a', 'b'] })).toEqual({ values: [] });
  },
);

test('no more values are judged than one answer may hold', () => {
  const { view, target } = stage('resource:memo://{folder}/{name}');
  const values = ['salaries', ...Array.from({ length: 5000 }, (_, index) => `plan${index}`)];
  const asked: string[] = [];
  const counting = {
    ...view,
    canRead: (server: string, uri: string) => {
      asked.push(uri);
      return view.canRead(server, uri);
    },
  };
  const visible = visibleCompletions(counting, target, inNotes, { values, total: 5001 });
  expect(visible).toEqual({ values: values.slice(1, 100), total: 5000, hasMore: true });
  expect(asked).toHaveLength(100);
});

test('what may all be read is given back as it is', () => {
  const { view, target } = stage('resource:memo://{folder}/{name}');
  const completion = { values: ['plan', 'ask'], total: 2 };
  expect(visibleCompletions(view, target, inNotes, completion)).toBe(completion);
});

test('where other variables are not known yet, nothing is judged', () => {
  const { view, target } = stage('resource:memo://{folder}/{name}');
  const completion = { values: ['salaries'] };
  expect(visibleCompletions(view, target, name, completion)).toBe(completion);
  expect(visibleCompletions(view, target, { ...name, context: { arguments: { folder: 7 } } }, completion)).toBe(
    completion,
  );
});

test('prompts, foreign variables and odd answers pass', () => {
  const { view, target } = stage('resource:memo://{folder}/{name}');
  const completion = { values: ['salaries'] };
  expect(visibleCompletions(view, stage('prompt:a_greet').target, inNotes, completion)).toBe(completion);
  const other = { ...inNotes, argument: { name: 'other' } };
  expect(visibleCompletions(view, target, other, completion)).toBe(completion);
  for (const odd of [{}, { values: 'salaries' }, { values: [7, null] }]) {
    expect(visibleCompletions(view, target, inNotes, odd)).toBe(odd);
  }
  for (const args of [undefined, [], {}, { argument: 7 }]) {
    expect(visibleCompletions(view, target, args, completion)).toBe(completion);
  }
});

function stage(completion: string): { readonly view: View; readonly target: Target } {
  const configuration = draftConfiguration({
    servers: { a: {} },
    policy: {
      'a.resource:memo://notes/salaries': 'deny',
      'a.resource:memo://secret/*': 'deny',
      'a.resource:memo://notes/ask': 'require-approval',
    },
  });
  const servers = handlesOf(configuration, {});
  for (const server of servers.values()) {
    server.catalog = catalogWith({ templates: ['memo://{folder}/{name}'], prompts: ['greet'] });
  }
  const view = buildView(sourceOf(configuration, servers), compilePolicy(configuration, ['dev']), ['dev']);
  const target = view.find('completion', completion);
  if (target === undefined) throw new Error('the view has what is completed');
  return { view, target };
}
