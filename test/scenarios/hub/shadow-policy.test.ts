import { expect, test } from 'vitest';
import type { CallLine } from '../../../src/ledger/index.ts';
import { openStage, type Stage, stdioServer } from '../../support/hub.ts';
import { verifies } from '../../support/verifies.ts';
import { eventually } from '../../support/within.ts';
import { approve, pendingOf, stored } from './trust.fixture.ts';

const servers = {
  web: stdioServer('named-tools.mjs', ['fetch', 'post'], { labels: { fetch: ['untrusted-content'] } }),
};

const rules = {
  tools: { 'web.post': 'allow' },
  shadow: { tools: { 'web.post': [{ effect: 'deny', when: { to: 'all' } }, { effect: 'require-approval' }] } },
};

async function open(policies: object): Promise<Stage> {
  const stage = await openStage();
  await stage.start({ servers, policies });
  await stage.hub.discover();
  return stage;
}

function facts({ tool, outcome, decision, rule, shadow, shadow_rule, shadow_rule_source, labels }: CallLine): unknown {
  return { tool, outcome, decision, rule, shadow, shadow_rule, shadow_rule_source, labels };
}

test(verifies('shadow:recorded', 'each call is recorded with the decision of the shadow policy'), async () => {
  const stage = await open(rules);
  await stage.call('web_post', { to: 'all' });
  await stage.call('web_post', { to: 'me' });
  await stage.call('web_fetch', {});
  const own = { outcome: 'ok', decision: 'allow', rule: 'web.post', labels: undefined };
  const tried = { tool: 'post', shadow_rule: 'web.post', shadow_rule_source: expect.stringMatching(/^quartermaster/) };
  expect((await stage.ledger()).map(facts)).toEqual([
    { ...own, ...tried, shadow: 'deny' },
    { ...own, ...tried, shadow: 'ask' },
    { ...own, tool: 'fetch', rule: null, shadow: 'allow', shadow_rule: null, shadow_rule_source: null },
  ]);
});

test('a hidden tool is recorded with what the shadow policy would make of the call', async () => {
  const stage = await open({
    tools: { 'web.post': 'deny' },
    shadow: { tools: { 'web.*': { effect: 'deny', when: { to: 'all' } } } },
  });
  expect(await stage.names()).toEqual(['web_fetch']);
  await stage.call('web_post', { to: 'all' });
  await stage.call('web_post', { to: 'me' });
  const lines = await stage.ledger();
  expect(lines.map(({ outcome, decision, shadow }) => [outcome, decision, shadow])).toEqual([
    ['denied', 'deny', 'deny'],
    ['denied', 'deny', 'allow'],
  ]);
});

test(verifies('shadow:no-effect', 'a shadow policy that denies everything denies nothing'), async () => {
  const stage = await open({ mode: 'shadow', tools: { '*': 'deny' } });
  expect(await stage.names()).toEqual(['web_fetch', 'web_post']);
  expect((await stage.call('web_post')).kind).toBe('result');
  expect((await stage.ledger()).map(({ decision, shadow }) => [decision, shadow])).toEqual([['allow', 'deny']]);
});

test('without a shadow policy or labels, records are as before', async () => {
  const stage = await open({ tools: { 'web.post': 'allow' } });
  await stage.call('web_post');
  const [line] = await stage.ledger();
  expect(Object.keys(line ?? {}).filter((key) => key.startsWith('shadow') || key === 'labels')).toEqual([]);
});

test(verifies('labels:run', 'a call is recorded with the labels that its run had before'), async () => {
  const stage = await open({});
  for (const tool of ['web_post', 'web_fetch', 'web_post']) await stage.call(tool);
  expect((await stage.ledger()).map(({ tool, labels }) => [tool, labels])).toEqual([
    ['post', undefined],
    ['fetch', undefined],
    ['post', ['untrusted-content']],
  ]);
});

test(verifies('shadow:trust', 'a file cannot take rules out of force by one word, also after a restart'), async () => {
  const stage = await openStage();
  const tools = { 'web.post': 'deny' };
  await stage.configure({ servers, policies: { tools } });
  await approve(stage.workspace);
  const tried = { servers, policies: { mode: 'shadow', tools } };
  await stage.start(tried, stored);
  await stage.hub.discover();
  expect(pendingOf(stage)).toEqual(['changed policy']);
  expect(await stage.names()).toEqual(['web_fetch']);
  await stage.start(tried, stored);
  expect(await stage.names()).toEqual(['web_fetch']);
  expect((await stage.call('web_post')).kind).toBe('failed');

  await approve(stage.workspace);
  await eventually(async () => (await stage.names()).includes('web_post'), 'the approved shadow');
  await stage.call('web_post');
  expect((await stage.ledger()).at(-1)).toMatchObject({ decision: 'allow', shadow: 'deny' });
  // Its text counts too.
  await stage.configure({ servers, policies: { mode: 'shadow', tools: {} } });
  await eventually(() => pendingOf(stage).includes('changed policy'), 'the changed shadow');
  await stage.call('web_post');
  expect((await stage.ledger()).at(-1)).toMatchObject({ decision: 'allow', shadow: 'deny' });
});
