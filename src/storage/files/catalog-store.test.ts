import { mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { type Clock, createSilentLogger, createSystemClock } from '../../base/index.ts';
import type { RememberedServer } from '../../upstream/index.ts';
import { createCatalogStore } from './catalog-store.ts';
import { temporaryWorkspace } from './temporary-workspace.fixture.ts';

function remembered(at: number, text = '{"name":"read"}'): RememberedServer {
  return {
    connectionKey: 'key',
    protocolVersion: '2025-06-18',
    era: 'legacy',
    verdictAt: at,
    tools: [
      {
        name: 'read',
        text,
        fingerprint: 'f00',
        safeToRepeat: true,
        hints: { readOnly: true, destructive: null },
        mirrored: [{ header: 'Mcp-Param-Path', path: ['path'] }],
      },
    ],
    at,
  };
}

test('remembers servers of any name', async () => {
  const layout = await temporaryWorkspace();
  const store = createCatalogStore(layout);
  expect(await store.load()).toEqual(new Map());
  store.save('files', remembered(1));
  store.save('__proto__', remembered(2));
  await store.flush();
  expect(await createCatalogStore(layout).load()).toEqual(
    new Map([
      ['__proto__', remembered(2)],
      ['files', remembered(1)],
    ]),
  );
  expect((await stat(layout.catalog)).mode & 0o777).toBe(0o600);
});

test('keeps all that a server offers, and reads what was kept before there was more than tools', async () => {
  const layout = await temporaryWorkspace();
  const full: RememberedServer = {
    ...remembered(1),
    resources: [{ uri: 'a:b', text: '{"uri":"a:b"}' }],
    templates: [{ uriTemplate: 'a:{b}', text: '{"uriTemplate":"a:{b}"}', fingerprint: 'sha256:1' }],
    prompts: [{ name: 'p', text: '{"name":"p"}', fingerprint: 'sha256:2' }],
    abilities: { resources: true, subscriptions: false, prompts: true, completions: false, logging: true, tasks: true },
  };
  const store = createCatalogStore(layout);
  store.save('new', full);
  store.save('old', remembered(2));
  await store.flush();
  expect(await createCatalogStore(layout).load()).toEqual(
    new Map([
      ['old', remembered(2)],
      ['new', full],
    ]),
  );
});

test('a server that was remembered before there were tasks has none', async () => {
  const layout = await temporaryWorkspace();
  const old = { resources: true, subscriptions: false, prompts: true, completions: false, logging: true };
  await mkdir(layout.folder);
  const row = { name: 'old', ...remembered(1), abilities: old };
  await writeFile(layout.catalog, JSON.stringify({ version: 1, servers: [row] }));
  expect((await createCatalogStore(layout).load()).get('old')?.abilities).toEqual({ ...old, tasks: false });
});

test('changes within a second are written together', async () => {
  const layout = await temporaryWorkspace();
  const timers: { ms: number; run: () => void }[] = [];
  const clock = createSystemClock();
  // Long timers are ours to fire; the short ones of the lock stay real.
  const setTimer: Clock['setTimer'] = (ms, run) => {
    if (ms < 1000) return clock.setTimer(ms, run);
    timers.push({ ms, run });
    return { cancel: () => {} };
  };
  const store = createCatalogStore(layout, { clock: { ...clock, setTimer } });
  store.save('files', remembered(1));
  store.save('git', remembered(2));
  store.save('files', remembered(3));
  expect(timers.map(({ ms }) => ms)).toEqual([1000]);
  await expect(stat(layout.catalog)).rejects.toMatchObject({ code: 'ENOENT' });
  timers[0]?.run();
  await store.flush();
  expect([...(await store.load())]).toEqual([
    ['files', remembered(3)],
    ['git', remembered(2)],
  ]);
  store.save('git', remembered(4));
  expect(timers).toHaveLength(2);
});

test('two processes keep what the other remembers', async () => {
  const layout = await temporaryWorkspace();
  const [one, other] = [createCatalogStore(layout), createCatalogStore(layout)];
  one.save('files', remembered(1));
  other.save('git', remembered(2));
  await Promise.all([one.flush(), other.flush()]);
  expect([...(await one.load()).keys()].sort()).toEqual(['files', 'git']);
});

test('a damaged file counts as empty, is told, and is written anew', async () => {
  const layout = await temporaryWorkspace();
  await mkdir(layout.folder);
  await writeFile(layout.catalog, '{"version":1,"serv');
  const { store, warnings } = watched(layout);
  expect(await store.load()).toEqual(new Map());
  expect(warnings).toEqual(['catalog.read-failed']);
  store.save('files', remembered(1));
  await store.flush();
  expect([...(await store.load()).keys()]).toEqual(['files']);
});

test('stays within its size and keeps the newest', async () => {
  const layout = await temporaryWorkspace();
  const { store, warnings } = watched(layout, 5000);
  for (const at of [3, 1, 2]) store.save(`server-${at}`, remembered(at, 'ä'.repeat(1000)));
  await store.flush();
  expect([...(await store.load()).keys()]).toEqual(['server-3', 'server-2']);
  expect((await stat(layout.catalog)).size).toBeLessThanOrEqual(5000);
  expect(warnings).toEqual(['catalog.left-out']);
});

test('a write that fails is told and made up for later', async () => {
  const layout = await temporaryWorkspace();
  await writeFile(layout.folder, 'in the way');
  const { store, warnings } = watched(layout);
  store.save('files', remembered(1));
  await store.flush();
  expect(warnings).toEqual(['catalog.not-saved']);
  await rm(layout.folder);
  await store.flush();
  expect(await readFile(layout.catalog, 'utf8')).toContain('"name":"files"');
});

function watched(layout: Parameters<typeof createCatalogStore>[0], maxBytes?: number) {
  const warnings: string[] = [];
  const logger = { ...createSilentLogger(), warn: (event: string) => void warnings.push(event) };
  return { warnings, store: createCatalogStore(layout, { logger, ...(maxBytes === undefined ? {} : { maxBytes }) }) };
}
