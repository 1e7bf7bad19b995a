import { mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { type Clock, createSilentLogger, createSystemClock } from '../../base/index.ts';
import type { GivenName } from '../../domain/index.ts';
import type { WorkspaceLayout } from './layout.ts';
import { createNameStore } from './name-store.ts';
import { temporaryWorkspace } from './temporary-workspace.fixture.ts';

const day = 24 * 3600 * 1000;

function given(server: string, own: string, more: Partial<GivenName> = {}): GivenName {
  return { kind: 'tool', naming: 'prefixed', server, own, name: `${server}_${own}`, ...more };
}

/** A store as one life of a process has it, some days after the first. */
function storeOf(layout: WorkspaceLayout, options: { readonly days?: number; readonly maxBytes?: number } = {}) {
  const real = createSystemClock();
  // Its seconds are long, so that nobody gives up waiting for a lock on a busy machine.
  const clock: Clock = {
    ...real,
    now: () => real.now() + (options.days ?? 0) * day,
    monotonic: () => real.monotonic() / 20,
  };
  const events: string[] = [];
  const note = (event: string): void => void events.push(event);
  const { maxBytes } = options;
  const logger = { ...createSilentLogger(), warn: note, error: note };
  return { ...createNameStore(layout, { clock, logger, ...(maxBytes === undefined ? {} : { maxBytes }) }), events };
}

/** One life: these servers are configured, these names are given. What it found is returned. */
async function live(layout: WorkspaceLayout, servers: string[], names: GivenName[] = [], days = 0) {
  const store = storeOf(layout, { days });
  const found = await store.load(new Set(servers));
  for (const name of names) store.save(name);
  await store.flush();
  expect(store.events).toEqual([]);
  return found;
}

test("names come back, of any server and kind, in a file that is the owner's alone", async () => {
  const layout = await temporaryWorkspace();
  const all = [
    given('__proto__', 'read'),
    given('files', 'read', { kind: 'prompt' }),
    given('files', 'read', { naming: 'preserved', name: 'read' }),
    given('files', 'Größe é\0"'),
  ];
  expect(await live(layout, ['files', '__proto__'], all)).toEqual([]);
  expect(await live(layout, ['files', '__proto__'])).toEqual(all);
  expect((await stat(layout.names)).mode & 0o777).toBe(0o600);
});

test('nothing new is nothing written', async () => {
  const layout = await temporaryWorkspace();
  await live(layout, ['files'], [given('files', 'read')]);
  const before = await stat(layout.names);
  await live(layout, ['files'], [given('files', 'read')]);
  await live(layout, ['files', 'more']);
  expect((await stat(layout.names)).ino).toBe(before.ino);
});

test('a server that leaves keeps its names for thirty days, counted from its leaving', async () => {
  const layout = await temporaryWorkspace();
  const [a, b] = [given('a', 'read'), given('b', 'read')];
  await live(layout, ['a', 'b'], [a, b]);
  expect(await live(layout, ['b'], [], 100)).toEqual([a, b]);
  expect(await live(layout, ['b'], [], 129)).toEqual([a, b]);
  // It was back for a moment: whoever leaves again is waited for anew.
  expect(await live(layout, ['a', 'b'], [], 129.5)).toEqual([a, b]);
  expect(await live(layout, ['b'], [], 135)).toEqual([a, b]);
  expect(await live(layout, ['b'], [], 166)).toEqual([b]);
  expect(await live(layout, ['a', 'b'], [], 166)).toEqual([b]);
});

test('a server that is removed while the hub runs leaves at that moment', async () => {
  const layout = await temporaryWorkspace();
  const store = storeOf(layout);
  await store.load(new Set(['a', 'b']));
  store.save(given('a', 'read'));
  store.adopt(new Set(['b']));
  await store.flush();
  expect(JSON.parse(await readFile(layout.names, 'utf8'))).toMatchObject({ gone: [{ server: 'a' }] });
  store.adopt(new Set(['a', 'b']));
  await store.flush();
  expect(JSON.parse(await readFile(layout.names, 'utf8'))).toMatchObject({ gone: [] });
});

test('of two processes the one that writes first is right, and what only one knows is kept', async () => {
  const layout = await temporaryWorkspace();
  const servers = new Set(['a', 'b']);
  const [one, other] = [storeOf(layout), storeOf(layout)];
  await Promise.all([one.load(servers), other.load(servers)]);
  one.save(given('a', 'read', { name: 'read' }));
  one.save(given('a', 'only'));
  await one.flush();
  other.save(given('b', 'read', { name: 'read' }));
  other.save(given('a', 'read', { name: 'a_read' }));
  other.save(given('a', 'only'));
  other.save(given('b', 'only'));
  await other.flush();
  expect(other.events).toEqual(['names.given-elsewhere', 'names.given-elsewhere']);
  expect(await live(layout, ['a', 'b'])).toEqual([
    given('a', 'read', { name: 'read' }),
    given('a', 'only'),
    given('b', 'only'),
  ]);
});

test('processes that write at the same time lose nothing', async () => {
  const layout = await temporaryWorkspace();
  const names = Array.from({ length: 20 }, (_, number) => given('a', `tool-${number}`));
  const stores = names.map((name) => {
    const store = storeOf(layout);
    store.adopt(new Set(['a']));
    store.save(name);
    return store;
  });
  await Promise.all(stores.map((store) => store.flush()));
  expect(new Set(await live(layout, ['a']))).toEqual(new Set(names));
});

test.each([
  ['torn', '{"version":1,"gone":[],"nam'],
  ['of another shape', '{"version":1,"gone":[],"names":[{"kind":"tool"}]}'],
  ['of a later version', '{"version":2,"gone":[],"names":[]}'],
])('a file that is %s counts as empty, is told once, and is written anew', async (_what, text) => {
  const layout = await temporaryWorkspace();
  await mkdir(layout.folder);
  await writeFile(layout.names, text);
  const store = storeOf(layout);
  expect(await store.load(new Set(['a']))).toEqual([]);
  store.save(given('a', 'read'));
  await store.flush();
  expect(store.events).toEqual(['names.unreadable']);
  expect(await live(layout, ['a'])).toEqual([given('a', 'read')]);
});

test('a server that makes up names without end costs only itself', async () => {
  const layout = await temporaryWorkspace();
  const store = storeOf(layout, { maxBytes: 5000 });
  await store.load(new Set(['small', 'big']));
  store.save(given('small', 'read'));
  for (let number = 0; number < 500; number++) store.save(given('big', `ä-${number}`));
  store.save(given('small', 'write'));
  await store.flush();
  expect(store.events.every((event) => event === 'names.left-out')).toBe(true);
  expect((await stat(layout.names)).size).toBeLessThanOrEqual(5000);
  const found = await live(layout, ['small', 'big']);
  expect(found.filter(({ server }) => server === 'small')).toHaveLength(2);
  expect(found).toContainEqual(given('big', 'ä-499'));
  expect(found).not.toContainEqual(given('big', 'ä-0'));
});

test('a write that fails is told and made up for later', async () => {
  const layout = await temporaryWorkspace();
  await writeFile(layout.folder, 'in the way');
  const store = storeOf(layout);
  store.adopt(new Set(['a']));
  store.save(given('a', 'read'));
  await store.flush();
  expect(store.events).toEqual(['names.not-saved']);
  await rm(layout.folder);
  await store.flush();
  expect(await live(layout, ['a'])).toEqual([given('a', 'read')]);
});
