import { expect, test } from 'vitest';
import { openStage, stdioServer } from '../../../test/support/hub.ts';
import { eventually } from '../../../test/support/within.ts';
import { watchResources } from './watched-resources.ts';

test('who changes its mind before the server has answered does not watch', async () => {
  const stage = await openStage();
  await stage.start({ servers: { up: stdioServer('matrix.mjs', ['--era', 'legacy', '--label', 'up', '--stdio']) } });
  await stage.hub.discover();
  const caller = stage.hub.callerFor({ agent: 'tester' });
  const [given, kept]: [string[], string[]] = [[], []];
  const early = watchResources(stage.hub, (uri) => given.push(uri));
  const steady = watchResources(stage.hub, (uri) => kept.push(uri));
  const uri = 'memo://up/note';
  const granted = early.watch(caller, uri, undefined, '');
  early.unwatch(uri);
  expect([(await granted).kind, (await steady.watch(caller, uri, undefined, '')).kind]).toEqual(['result', 'result']);
  await stage.say('up_touch', { nonce: 'n', uri });
  await eventually(() => kept.includes(uri) || undefined, 'word of the change');
  expect(given).toEqual([]);
  early.close();
  steady.close();
});

test('those that the server has not granted yet count, and nothing is done for one too many', async () => {
  const stage = await openStage();
  await stage.start({ servers: { up: stdioServer('matrix.mjs', ['--era', 'legacy', '--label', 'up', '--stdio']) } });
  await stage.hub.discover();
  const caller = stage.hub.callerFor({ agent: 'tester' });
  let calls = 0;
  const counting = new Proxy(stage.hub, {
    get(hub, key, receiver) {
      if (key === 'call') calls++;
      return Reflect.get(hub, key, receiver);
    },
  });
  const watched = watchResources(counting, () => {});
  const uris = Array.from({ length: 300 }, (_, page) => `memo://up/a/${page}`);
  const outcomes = await Promise.all(uris.map((uri) => watched.watch(caller, uri, undefined, '')));
  expect(outcomes.filter(({ kind }) => kind === 'result')).toHaveLength(256);
  expect(outcomes.at(-1)).toMatchObject({ kind: 'failed', error: { code: 'OVERLOADED' } });
  expect(calls).toBe(256);
  watched.close();
});

test('others get their turn between two of many URIs, and no more are asked for once the client is gone', async () => {
  const stage = await openStage();
  await stage.start({ servers: { up: stdioServer('matrix.mjs', ['--era', 'legacy', '--label', 'up', '--stdio']) } });
  await stage.hub.discover();
  const caller = stage.hub.callerFor({ agent: 'tester' });
  const asked: string[] = [];
  const counting = new Proxy(stage.hub, {
    get(hub, key, receiver) {
      if (key === 'call') asked.push('call');
      return Reflect.get(hub, key, receiver);
    },
  });
  const watched = watchResources(counting, () => {});
  const uris = Array.from({ length: 100 }, (_, page) => `memo://up/a/${page}`);
  const all = watched.watchAll(caller, uris, undefined);
  const atOnce = asked.length;
  setImmediate(() => watched.close());
  await all;
  expect(atOnce).toBe(1);
  expect(asked.length).toBeLessThan(5);
});

test('a client watches so many resources and no more', async () => {
  const stage = await openStage();
  await stage.start({ servers: { up: stdioServer('matrix.mjs', ['--era', 'legacy', '--label', 'up', '--stdio']) } });
  await stage.hub.discover();
  const caller = stage.hub.callerFor({ agent: 'tester' });
  const watched = watchResources(stage.hub, () => {});
  for (let page = 0; page < 256; page++) {
    expect((await watched.watch(caller, `memo://up/a/${page}`, undefined, '')).kind).toBe('result');
  }
  const refused = await watched.watch(caller, 'memo://up/a/256', undefined, '');
  expect(refused).toMatchObject({ kind: 'failed', error: { code: 'OVERLOADED' } });
  expect((await watched.watch(caller, 'memo://up/a/0', undefined, '')).kind).toBe('result');
  watched.close();
});
