import { writeFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { fixturePath } from '../../support/fixture-servers.ts';
import { codeOf, openStage, type Stage, stdioServer } from '../../support/hub.ts';
import { verifies } from '../../support/verifies.ts';
import { viewOf } from '../../support/views.ts';
import { eventually } from '../../support/within.ts';

const hour = 3600 * 1000;
const neighbour = stdioServer('named-tools.mjs', ['look']);

/** A server that can be taken away, next to one that stays. */
async function begin(settings: object = {}, limits: object = {}) {
  const stage = await openStage();
  const fixture = await stage.fixture('echo-http.mjs');
  const web = { url: fixture.url, limits, writeRequiresApproval: true, trustAnnotations: true };
  const config = { ...settings, servers: { web, next: neighbour } };
  await stage.start(config);
  await stage.hub.discover();
  return { stage, fixture, config, before: await stage.names() };
}

/** Nobody but a call finds out that a server over HTTP is away. */
async function miss(stage: Stage, tool: string): Promise<void> {
  const result = await stage.call(tool, { a: 1, b: 2 });
  expect(codeOf(result)).toBe('UPSTREAM_UNAVAILABLE');
}

function listed(stage: Stage): string[] {
  return [...viewOf(stage.hub).entries.keys()];
}

function missing(stage: Stage): string[] {
  return viewOf(stage.hub).undiscovered.map(({ spec }) => spec.name);
}

describe.each(['prefixed', 'preserved'] as const)('naming: %s', (naming) => {
  const add = naming === 'prefixed' ? 'web_add' : 'add';
  const look = naming === 'prefixed' ? 'next_look' : 'look';

  test(
    verifies(
      'unavailable:grace',
      'tools stay for the time of grace, then leave and are announced, and come back as they were',
    ),
    async () => {
      const { stage, fixture, before } = await begin({ naming });
      const why = stage.hub.explain(['tester'], 'web', 'add');
      expect(why.effect).toBe('allow');
      let announced = 0;
      stage.hub.lists.onListsChange(() => announced++);
      await fixture.stop();
      await miss(stage, add);
      stage.clock.advance(hour - 60_000);
      await miss(stage, add);
      expect([listed(stage), missing(stage), announced]).toEqual([before, [], 0]);
      stage.clock.advance(60_000);
      await eventually(() => listed(stage).length === 1 || undefined, 'the tools to leave');
      expect([listed(stage), missing(stage), announced]).toEqual([[look], ['web'], 1]);
      expect(stage.status('web').tools).toBeUndefined();
      expect(stage.hub.explain(['tester'], 'web', 'add')).toEqual(why);
      const result = await stage.call(add, { a: 1, b: 2 });
      expect(result).toMatchObject({ error: { code: 'UPSTREAM_UNAVAILABLE', details: { server: 'web' } } });
      expect(codeOf(await stage.call('nothing'))).toBe('TOOL_UNKNOWN');

      await fixture.restart();
      await stage.hurry(eventually(() => listed(stage).length > 1 || undefined, 'the tools to be back'));
      expect([listed(stage), missing(stage)]).toEqual([before, []]);
      expect(await stage.say(add, { a: 1, b: 2 })).toBe('3');
    },
  );
});

test('a server that was back in between has all of its grace again', async () => {
  const { stage, fixture, before } = await begin();
  for (let round = 0; round < 3; round++) {
    await fixture.stop();
    await miss(stage, 'web_add');
    stage.clock.advance(hour - 120_000);
    await fixture.restart();
    await stage.hurry(stage.until('web', 'connected'));
    expect(listed(stage)).toEqual(before);
  }
});

test('after a restart what is remembered has its grace from when the server was missed', async () => {
  const { stage, fixture, config, before } = await begin();
  await fixture.stop();
  await miss(stage, 'web_add');
  stage.clock.advance(2 * hour);
  await eventually(() => listed(stage).length === 1 || undefined, 'the tools to leave');
  await stage.start(config);
  // Nobody has missed it in this life.
  stage.clock.advance(2 * hour);
  expect(listed(stage)).toEqual(before);
  await miss(stage, 'web_add');
  stage.clock.advance(hour - 60_000);
  expect(listed(stage)).toEqual(before);
  stage.clock.advance(60_000);
  await eventually(() => listed(stage).length === 1 || undefined, 'the tools to leave again');
  await fixture.restart();
  await stage.hurry(eventually(() => listed(stage).length > 1 || undefined, 'the tools to be back'));
  expect(listed(stage)).toEqual(before);
});

test('a shorter grace in the configuration holds for an absence that has begun', async () => {
  const { stage, fixture, config, before } = await begin({}, { grace_s: 7200 });
  await fixture.stop();
  await miss(stage, 'web_add');
  stage.clock.advance(hour + 1);
  await stage.configure({
    ...config,
    servers: { ...config.servers, web: { url: fixture.url, limits: { grace_s: 7000 } } },
  });
  await stage.hub.reload();
  expect(listed(stage)).toEqual(before);
  await stage.configure({ ...config, servers: { ...config.servers, web: { url: fixture.url } } });
  await stage.hub.reload();
  await eventually(() => listed(stage).length === 1 || undefined, 'the tools to leave');
});

test('a child that does not start any more is missed like any other', async () => {
  const stage = await openStage();
  const up = (script: string): object => ({ up: { command: process.execPath, args: [script] } });
  const good = `await import(${JSON.stringify(fixturePath('echo-stdio.mjs'))});`;
  await writeFile(stage.path('server.mjs'), good);
  await stage.start({ servers: { ...up(stage.path('server.mjs')) } });
  const before = await stage.names();
  await writeFile(stage.path('server.mjs'), 'process.exit(1)');
  for (const pid of stage.children()) process.kill(pid, 'SIGKILL');
  await stage.hurry(stage.until('up', 'open-circuit'));
  expect(listed(stage)).toEqual(before);
  stage.clock.advance(hour);
  await eventually(() => listed(stage).length === 0 || undefined, 'the tools to leave');
  await writeFile(stage.path('server.mjs'), good);
  await stage.hurry(eventually(() => listed(stage).length > 0 || undefined, 'the tools to be back'));
  expect(listed(stage)).toEqual(before);
});
