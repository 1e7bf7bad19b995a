import { rm } from 'node:fs/promises';
import { expect, test } from 'vitest';
import type { Hub, HubEvent } from '../../../src/hub/index.ts';
import { openStage, stdioServer } from '../../support/hub.ts';
import { verifies } from '../../support/verifies.ts';
import { eventually } from '../../support/within.ts';

type EventOf<Type> = HubEvent & { readonly type: Type };

/** Everything that the hub tells from now on. */
function listen(hub: Hub) {
  const events: HubEvent[] = [];
  hub.onEvent((event) => events.push(event));
  return {
    events,
    states: (server: string): string[] =>
      events.flatMap((event) => (event.type === 'server.state' && event.server === server ? [event.state] : [])),
    /** The first one of the type that the test holds for; waits for it. */
    next<Type extends HubEvent['type']>(type: Type, test: (event: EventOf<Type>) => boolean = () => true) {
      const isWanted = (event: HubEvent): event is EventOf<Type> => event.type === type && test(event as EventOf<Type>); // the type was compared
      return eventually(() => events.find(isWanted), `the event ${type}`);
    },
  };
}

test(verifies('events:servers', 'a server that goes down and comes back'), async () => {
  const stage = await openStage();
  const fixture = await stage.fixture('echo-http.mjs', ['--era', 'modern']);
  const hub = await stage.start({ servers: { up: { url: fixture.url, limits: { grace_s: 1 } } } });
  const heard = listen(hub);
  await stage.names();
  await heard.next('catalog.changed', ({ count }) => count !== undefined);
  expect(heard.states('up')).toEqual(['connecting', 'connected']);

  await fixture.stop();
  await stage.call('up_echo', { message: 'hi' });
  const down = await heard.next('server.state', ({ state }) => state === 'retrying');
  expect(down).toMatchObject({ project: 'workspace', server: 'up', attempt: 1 });
  expect(down.error).toContain('up');
  expect(down.retryAt).toBeGreaterThan(0);
  // Its lists are withdrawn after the grace, and only then.
  const withdrawn = eventually(() => {
    stage.clock.advance(500);
    return heard.events.find((event) => event.type === 'catalog.changed' && event.count === undefined);
  }, 'the lists to be withdrawn');
  await withdrawn;

  await fixture.restart();
  const from = heard.events.length;
  await eventually(() => {
    stage.clock.advance(2000);
    return stage.status('up').state === 'connected' ? true : undefined;
  }, 'the server to be back');
  await eventually(
    () => heard.events.slice(from).find((event) => event.type === 'catalog.changed' && event.count !== undefined),
    'the lists to be back',
  );
  const states = heard.states('up');
  expect(states.at(-1)).toBe('connected');
  // Each state is told once: none follows itself.
  expect(states.filter((state, index) => state === states[index - 1])).toEqual([]);
});

test(verifies('events:servers', 'a list that changes, and what is not a change'), async () => {
  const stage = await openStage();
  const hub = await stage.start({ servers: { trees: stdioServer('tools-change.mjs') } });
  await stage.names();
  const heard = listen(hub);
  await stage.say('trees_oak');
  expect(heard.events).toEqual([]);
  await stage.say('trees_grow');
  const { count } = await heard.next('catalog.changed');
  expect(count).toEqual({ tools: 6, resources: 0, templates: 0, prompts: 0 });
});

test(verifies('events:servers', 'a reload tells which servers came, went and were disabled'), async () => {
  const stage = await openStage();
  const echo = stdioServer('echo-stdio.mjs');
  const hub = await stage.start({ servers: { stays: echo, goes: echo, sleeps: echo } });
  await stage.names();
  const heard = listen(hub);
  await stage.configure({ servers: { stays: echo, sleeps: { ...echo, enabled: false }, comes: echo } });
  await hub.reload();
  expect(heard.events.map(({ time: _, ...facts }) => facts)).toEqual([
    { type: 'server.removed', project: 'workspace', server: 'goes' },
    { type: 'server.state', project: 'workspace', server: 'sleeps', state: 'disabled', previous: 'connected' },
    { type: 'server.state', project: 'workspace', server: 'comes', state: 'idle' },
    { type: 'config.applied', project: 'workspace', servers: 3, problems: 0 },
  ]);
});

test(verifies('events:servers', 'a file that cannot be used is told, and that it is back'), async () => {
  const stage = await openStage();
  const config = { servers: { up: stdioServer('echo-stdio.mjs') }, policies: { tools: { 'up.echo': 'deny' } } };
  const hub = await stage.start(config, { watch: true });
  const heard = listen(hub);
  await rm(stage.path('quartermaster.yaml'));
  expect(await heard.next('config.retained')).toMatchObject({ file: 'quartermaster.yaml', reason: 'missing' });
  await stage.configure(config);
  expect(await heard.next('config.restored')).toMatchObject({ file: 'quartermaster.yaml' });
  await stage.configure('servers: {');
  expect(await heard.next('config.refused')).toMatchObject({ file: 'quartermaster.yaml' });
  expect(heard.events.filter(({ type }) => type === 'config.applied')).toEqual([]);
});
