import { readFile, writeFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import type { CallResult } from '../../../src/calls/index.ts';
import { lockfileName } from '../../../src/config/index.ts';
import type { HubEvent } from '../../../src/hub/index.ts';
import { codeOf, stdioServer } from '../../support/hub.ts';
import { verifies } from '../../support/verifies.ts';
import { eventually } from '../../support/within.ts';
import { honest, lockfileOf, openRugPull, poison, type RugPullOptions, tool } from './rug-pull.fixture.ts';
import { approve, pendingOf, stored } from './trust.fixture.ts';

const poisoned = {
  tools: honest.tools.map((each) => ('name' in each && each.name === 'read' ? tool('read', poison) : each)),
};

const ways: readonly (readonly [string, RugPullOptions])[] = [
  ['stdio, legacy', {}],
  ['stdio, modern', { args: ['--modern'] }],
  [
    'HTTP, legacy',
    { entry: async (stage, file) => overHttp(await stage.fixture('rug-pull.mjs', [file, '--http', '0'])) },
  ],
  [
    'HTTP, modern',
    { entry: async (stage, file) => overHttp(await stage.fixture('rug-pull.mjs', [file, '--http', '0', '--modern'])) },
  ],
];

const overHttp = ({ url }: { readonly url: string }): object => ({ type: 'http', url });

test.each(ways)(
  verifies('lock:only-accepted', 'a definition that changes on an announcement is never listed: %s'),
  async (_way, options) => {
    const { stage, lists, lock, seen } = await openRugPull(honest, options);
    await lock();
    expect(await stage.names()).toEqual(['notes_announce', 'notes_exit', 'notes_read', 'notes_write']);
    const watch = watchLists(() => stage.hub.viewOf(stage.hub.callerFor({ agent: 'tester' })).toolsText);
    await lists(poisoned);
    expect(await stage.say('notes_announce', { times: 50 })).toBe('I am announce.');
    await seen(poison);
    const texts = watch.stop();
    expect(texts.filter((text) => text.includes(poison))).toEqual([]);
    expect(await stage.names()).toEqual(['notes_announce', 'notes_exit', 'notes_write']);
    expect(codeOf(await stage.call('notes_read'))).toBe('POLICY_DENIED');
    expect(await stage.say('notes_write')).toBe('I am write.');
    await lists(honest);
    await stage.say('notes_announce');
    await eventually(
      async () => ((await stage.names()).includes('notes_read') ? true : undefined),
      'the old definition',
    );
    expect(await stage.say('notes_read')).toBe('I am read.');
  },
);

/** Reads the list in a tight loop. */
function watchLists(read: () => string): { stop(): readonly string[] } {
  const seen = new Set<string>();
  let going = true;
  const look = (): void => {
    if (!going) return;
    seen.add(read());
    setImmediate(look);
  };
  look();
  return {
    stop() {
      going = false;
      seen.add(read());
      return [...seen];
    },
  };
}

test(
  verifies('lock:reconnect', 'a server that comes back with another definition runs no call before it was compared'),
  async () => {
    const { stage, lists, lock, ran } = await openRugPull(honest);
    await lock();
    await stage.names();
    await lists(poisoned);
    const calls: Promise<CallResult>[] = [];
    // The connection to the old process is lost, and nothing is known of the new one.
    stage.hub.onEvent((event) => {
      if (event.type === 'server.state') calls.push(stage.call('notes_read'));
    });
    await stage.call('notes_exit');
    await stage.until('notes', 'connecting');
    await stage.until('notes', 'connected');
    const results = await Promise.all(calls);
    expect(results.length).toBeGreaterThanOrEqual(2);
    expect(new Set(results.map(codeOf))).toEqual(new Set(['POLICY_DENIED']));
    expect(await ran()).toEqual(['exit']);
    expect(await stage.say('notes_write')).toBe('I am write.');
  },
);

test(
  verifies('lock:only-accepted', 'a definition that changed while no hub ran is not listed from the store either'),
  async () => {
    const { stage, lists, lock } = await openRugPull(honest);
    await lock();
    await lists(poisoned);
    await stage.hub.discover();
    await stage.stop();
    await stage.open();
    expect(stage.hub.viewOf(stage.hub.callerFor({ agent: 'tester' })).toolsText).not.toContain(poison);
    expect(await stage.names()).toEqual(['notes_announce', 'notes_exit', 'notes_write']);
  },
);

test(
  verifies('lock:says-why', 'a changed tool says why, a new one looks unknown, and the record has both'),
  async () => {
    const { stage, lists, lock } = await openRugPull(honest);
    await lock();
    await lists({ tools: [...poisoned.tools, tool('spy')] });
    await stage.hub.discover();
    const changed = await stage.call('notes_read');
    const fresh = await stage.call('notes_spy');
    const unknown = await stage.call('notes_nothing');
    expect(changed).toMatchObject({ kind: 'failed', error: { code: 'POLICY_DENIED' } });
    expect(JSON.stringify(changed)).not.toContain(poison);
    if (fresh.kind !== 'failed' || unknown.kind !== 'failed') throw new Error('refused calls fail');
    expect(fresh.error.message).toBe(unknown.error.message.replace('notes_nothing', 'notes_spy'));
    const lines = await stage.ledger();
    expect(lines.slice(-3)).toMatchObject([
      { server: 'notes', tool: 'read', outcome: 'denied', rule: 'definition-changed' },
      { server: 'notes', tool: 'spy', outcome: 'denied', rule: 'definition-changed' },
      { server: null, tool: 'notes_nothing', outcome: 'unknown_tool' },
    ]);
  },
);

test(
  verifies('lock:others-work', 'changed instructions withhold the whole server, and its state says so'),
  async () => {
    const { stage, lists, lock } = await openRugPull({ ...honest, instructions: 'Be kind.' });
    await lock();
    expect(stage.status('notes').state).toBe('connected');
    await lists({ ...honest, instructions: poison });
    await stage.call('notes_exit');
    await stage.until('notes', 'quarantined');
    expect(await stage.names()).toEqual([]);
    expect(codeOf(await stage.call('notes_write'))).toBe('POLICY_DENIED');
    await lock();
    expect(stage.status('notes').state).toBe('connected');
    expect(await stage.say('notes_write')).toBe('I am write.');
  },
);

test(verifies('lock:only-accepted', 'a server that is not in the lockfile has no tools for agents'), async () => {
  const { stage } = await openRugPull(honest);
  await writeFile(stage.path(lockfileName), '{"version":1,"servers":{}}');
  await stage.hub.reload();
  expect(await stage.names()).toEqual([]);
  expect(stage.status('notes')).toMatchObject({ state: 'quarantined', withheld: 4 });
});

test(verifies('lock:only-accepted', 'a server that changes by itself after some lists is caught'), async () => {
  const { stage, lock } = await openRugPull({ ...honest, afterLists: 2, later: poisoned });
  await lock();
  const watch = watchLists(() => stage.hub.viewOf(stage.hub.callerFor({ agent: 'tester' })).toolsText);
  for (let time = 0; time < 4; time++) await stage.hub.discover();
  expect(watch.stop().filter((text) => text.includes(poison))).toEqual([]);
  expect(await stage.names()).toEqual(['notes_announce', 'notes_exit', 'notes_write']);
});

test(verifies('lock:trusted', 'a lockfile that is deleted or broken leaves the last good one in force'), async () => {
  const { stage, lists, lock } = await openRugPull(honest);
  await lock();
  const good = await readFile(stage.path(lockfileName), 'utf8');
  await lists(poisoned);
  await stage.stop();
  await stage.open({ watch: true });
  await stage.hub.discover();
  for (const text of ['', '<<<<<<< HEAD', '{"version":2,"servers":{}}', good.replace('"tools"', '"tolls"')]) {
    await writeFile(stage.path(lockfileName), text);
    await eventually(() => (stage.hub.configurationNotices().length > 0 ? true : undefined), 'the notice');
    expect(await stage.names()).toEqual(['notes_announce', 'notes_exit', 'notes_write']);
    await writeFile(stage.path(lockfileName), good);
    await eventually(() => (stage.hub.configurationNotices().length === 0 ? true : undefined), 'the file to be good');
  }
});

test(
  verifies('lock:trusted', 'whoever writes the lockfile accepts nothing by that: both versions must agree'),
  async () => {
    const { stage, lists, lock } = await openRugPull(honest);
    await lock();
    await stage.stop();
    await approve(stage.workspace);
    await stage.open(stored);
    await lists({ tools: [...poisoned.tools, tool('spy')] });
    await stage.hub.discover();
    await writeFile(stage.path(lockfileName), lockfileOf(stage.hub));
    await stage.hub.reload();
    expect(await stage.names()).toEqual(['notes_announce', 'notes_exit', 'notes_write']);
    expect(pendingOf(stage)).toEqual(['changed notes']);
    // A change that takes something away counts at once.
    await writeFile(stage.path(lockfileName), '{"version":1,"servers":{"notes":{}}}');
    await stage.hub.reload();
    expect(await stage.names()).toEqual([]);
    await writeFile(stage.path(lockfileName), lockfileOf(stage.hub));
    await approve(stage.workspace);
    await stage.hub.reload();
    expect(await stage.names()).toEqual(['notes_announce', 'notes_exit', 'notes_read', 'notes_spy', 'notes_write']);
  },
);

test(
  verifies('lock:first-sight', 'without a lockfile a change is listed, logged and shown until it is accepted'),
  async () => {
    const { stage, lists } = await openRugPull(honest);
    const events: HubEvent[] = [];
    stage.hub.onEvent((event) => events.push(event));
    await lists(poisoned);
    await stage.hub.discover();
    expect(await stage.names()).toContain('notes_read');
    expect(stage.log.join('\n')).toContain('"event":"catalog.tools-changed","server":"notes"');
    expect(events.filter(({ type }) => type === 'definition.changed')).toMatchObject([
      { server: 'notes', count: 1, withheld: false, changes: [{ kind: 'tool', name: 'read', change: 'changed' }] },
    ]);
    await stage.stop();
    await stage.open();
    expect(stage.status('notes').changes).toBe(1);
    expect(stage.hub.problems().map(({ message }) => message)).toContain(
      '1 definition of server "notes" has changed since the hub first saw it: read changed.',
    );
    expect(stage.hub.definitions()).toMatchObject([
      { changes: [{ before: expect.stringContaining('Does read.'), after: expect.stringContaining(poison) }] },
    ]);
    stage.hub.acceptListed('notes');
    expect(stage.hub.definitionProblems()).toEqual([]);
    await stage.stop();
    await stage.open();
    expect(stage.hub.definitionProblems()).toEqual([]);
  },
);

test(verifies('lock:first-sight', '`lock: warn` shows the difference and withholds nothing'), async () => {
  const { stage, lists, lock } = await openRugPull(honest);
  await lock();
  await lists(poisoned);
  await stage.configure({ ...JSON.parse(await readFile(stage.path('quartermaster.yaml'), 'utf8')), lock: 'warn' });
  await stage.hub.reload();
  await stage.hub.discover();
  expect(await stage.names()).toContain('notes_read');
  expect(stage.hub.problems().map(({ message }) => message)).toContain(
    '1 definition of server "notes" differs from the accepted one, and agents get it: read changed.',
  );
});

test(verifies('lock:only-accepted', '`lock: enforce` without a lockfile accepts nothing'), async () => {
  const { stage } = await openRugPull(honest);
  await stage.configure({ ...JSON.parse(await readFile(stage.path('quartermaster.yaml'), 'utf8')), lock: 'enforce' });
  await stage.hub.reload();
  expect(await stage.names()).toEqual([]);
});

test(verifies('lock:reconnect', 'an isolated connection is compared before anything is sent over it'), async () => {
  const isolated = { isolation: 'per-agent' };
  const { stage, lists, lock, ran } = await openRugPull(honest, {
    entry: async (_stage, file) => stdioServer('rug-pull.mjs', [file], isolated),
  });
  await lock();
  expect(await stage.say('notes_read', {}, { agent: 'one' })).toBe('I am read.');
  await lists(poisoned);
  // The hub's own connection has not listed again, and the process of the other agent starts now.
  expect(codeOf(await stage.call('notes_read', {}, { agent: 'two' }))).toBe('POLICY_DENIED');
  expect(await stage.say('notes_write', {}, { agent: 'two' })).toBe('I am write.');
  expect(await ran()).toEqual(['read', 'write']);
});
