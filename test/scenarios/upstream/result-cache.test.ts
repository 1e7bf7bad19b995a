import { describe, expect, test } from 'vitest';
import { ResourceSubscription } from '../../../src/calls/index.ts';
import { codeOf, openStage, type Stage, stdioServer, textOf } from '../../support/hub.ts';
import { verifies } from '../../support/verifies.ts';
import { viewOf } from '../../support/views.ts';
import { eventually } from '../../support/within.ts';

const eras = ['legacy', 'modern'] as const;
const kept = { trustAnnotations: true, cache: { ttl_s: 60 } };
const uri = 'note://page';

function notebook(era: string, more: object = {}): object {
  return stdioServer('notebook.mjs', ['--era', era, '--stdio'], { ...kept, ...more });
}

async function begin(era: string, more: object = {}, sections: object = {}): Promise<Stage> {
  const stage = await openStage();
  await stage.start({ servers: { up: notebook(era, more) }, ...sections });
  await stage.hub.discover();
  return stage;
}

function look(stage: Stage, agent = 'tester', at = 'it'): Promise<string> {
  return stage.say('up_look', { at }, { agent });
}

async function read(stage: Stage, agent = 'tester'): Promise<string> {
  const args = { uri };
  const caller = stage.hub.callerFor({ agent });
  const request = { kind: 'resource', caller, name: uri, argumentsText: JSON.stringify(args), args } as const;
  const result = await stage.hub.call({ ...request, meta: '', channel: undefined }).result;
  if (result.kind !== 'result') throw new Error(codeOf(result));
  return result.result.text;
}

/** How many of the calls on the ledger needed their server, and how many did not. */
async function needed(stage: Stage): Promise<{ readonly sent: number; readonly cached: number }> {
  const lines = await stage.ledger();
  for (const { cached, transport } of lines) expect(cached === true).toBe(transport === null);
  const cached = lines.filter((line) => line.cached === true).length;
  return { sent: lines.length - cached, cached };
}

describe.each(eras)('a %s server with a cache', (era) => {
  test(verifies('cache:same-call', 'is asked once for what two agents ask, until its time is over'), async () => {
    const rules = { agents: { other: { servers: ['up'] }, tester: { servers: ['up'] }, third: { servers: [] } } };
    const stage = await begin(era, {}, rules);
    const first = await look(stage);
    expect(await look(stage, 'other')).toBe(first);
    expect(codeOf(await stage.call('up_look', { at: 'it' }, { agent: 'third' }))).toBe('TOOL_UNKNOWN');
    expect(await look(stage, 'tester', 'that')).not.toBe(first);
    stage.clock.advance(60_000);
    expect(await look(stage, 'other')).not.toBe(first);
    const lines = await stage.ledger();
    const of = (who: string) =>
      lines.filter(({ agent }) => agent === who).map(({ outcome, cached }) => [outcome, cached]);
    expect(of('tester')).toEqual(Array(2).fill(['ok', undefined]));
    expect(of('third')).toEqual([['denied', undefined]]);
    expect(of('other')).toEqual([
      ['ok', true],
      ['ok', undefined],
    ]);
  });

  test(verifies('cache:stale', 'is asked again after something was written, and after an error'), async () => {
    const stage = await begin(era);
    expect(codeOf(await stage.call('up_torn'))).toMatch(/isError/);
    const second = await stage.say('up_torn');
    expect(await stage.say('up_torn')).toBe(second);
    await look(stage);
    const page = await read(stage);
    expect(await stage.say('up_write', { text: 'ink' }, { agent: 'other' })).toMatch(/^write: ink/);
    expect(await look(stage)).toMatch(/^it: ink/);
    expect(await read(stage)).not.toBe(page);
    expect(await needed(stage)).toEqual({ sent: 7, cached: 1 });
  });

  test(verifies('cache:stale', 'is asked again for a resource that it says is new'), async () => {
    const stage = await begin(era);
    const watch = new ResourceSubscription(() => ++heard > 0);
    let heard = 0;
    const request = {
      kind: 'subscription',
      name: uri,
      argumentsText: `{"uri":"${uri}"}`,
      args: { uri },
      meta: '',
    } as const;
    const caller = stage.hub.callerFor({ agent: 'tester' });
    const subscribed = await stage.hub.call({ ...request, caller, subscription: watch, channel: undefined }).result;
    expect(subscribed.kind).toBe('result');
    const [page, looked] = [await read(stage), await look(stage)];
    expect(JSON.parse(await read(stage))).toMatchObject({ contents: JSON.parse(page).contents });
    await stage.say('up_wind');
    await eventually(() => heard > 0 || undefined, 'word of the page');
    expect(JSON.parse(await read(stage)).contents).not.toEqual(JSON.parse(page).contents);
    expect(await look(stage)).toBe(looked);
    watch.end();
  });

  test(verifies('cache:stale', 'is asked again once its list has changed'), async () => {
    const stage = await begin(era);
    const looked = await look(stage);
    await stage.say('up_seed');
    await eventually(() => viewOf(stage.hub).entries.has('up_grown') || undefined, 'the grown tool');
    expect(await look(stage)).not.toBe(looked);
  });

  test(verifies('cache:rights', 'that gives each agent a connection keeps the results of each apart'), async () => {
    const stage = await begin(era, { isolation: 'per-agent' });
    const [one, other] = [await look(stage, 'one'), await look(stage, 'other')];
    expect(other).not.toBe(one);
    expect([await look(stage, 'one'), await look(stage, 'other')]).toEqual([one, other]);
    expect(await needed(stage)).toEqual({ sent: 2, cached: 2 });
  });

  test(verifies('cache:stale', 'is asked again when its entry has changed, and not for that of another'), async () => {
    const stage = await begin(era);
    const looked = await look(stage);
    const next = { url: 'http://127.0.0.1:1/mcp', enabled: false };
    await stage.configure({ servers: { up: notebook(era), next } });
    await stage.hub.reload();
    expect(await look(stage)).toBe(looked);
    await stage.configure({ servers: { up: notebook(era, { cache: { ttl_s: 90 } }), next } });
    await stage.hub.reload();
    const again = await look(stage);
    expect(again).not.toBe(looked);
    await stage.configure({ servers: { up: notebook(era, { env: { INK: 'blue' } }), next } });
    await stage.hub.reload();
    await stage.hub.discover();
    expect(await look(stage)).not.toBe(again);
    await stage.configure({ servers: { up: notebook(era, { env: { INK: 'blue' }, cache: undefined }), next } });
    await stage.hub.reload();
    expect(await look(stage)).not.toBe(await look(stage));
  });

  test(verifies('cache:same-call', 'that is away answers what it was asked before, and nothing else'), async () => {
    const stage = await openStage();
    const fixture = await stage.fixture('notebook.mjs', ['--era', era]);
    await stage.start({ servers: { up: { url: fixture.url, ...kept } } });
    await stage.hub.discover();
    const [looked, page] = [await look(stage), await read(stage)];
    await fixture.stop();
    expect(codeOf(await stage.call('up_look', { at: 'that' }))).toMatch(/^UPSTREAM_/);
    expect(await look(stage)).toBe(looked);
    expect(JSON.parse(await read(stage))).toMatchObject({ contents: JSON.parse(page).contents });
    expect(textOf(await stage.call('up_look', { at: 'it' }))).toBe(looked);
    stage.clock.advance(60_000);
    expect(codeOf(await stage.call('up_look', { at: 'it' }))).toMatch(/^UPSTREAM_/);
  });
});

test('a modern server says how long its page holds, and who reads it hears how much of that is left', async () => {
  const stage = await begin('modern');
  const page = await read(stage);
  expect(JSON.parse(page).ttlMs).toBe(30_000);
  stage.clock.advance(20_000);
  const { ttlMs, ...rest } = JSON.parse(await read(stage));
  expect(ttlMs).toBeLessThanOrEqual(10_000);
  expect(JSON.parse(page)).toMatchObject(rest);
  stage.clock.advance(10_000);
  expect(JSON.parse(await read(stage)).contents).not.toEqual(rest.contents);
});
