import { expect, test } from 'vitest';
import { verifies } from '../../../test/support/verifies.ts';
import { createManualClock } from '../../base/manual-clock.fixture.ts';
import { type Catalog, onlyTools } from '../../domain/index.ts';
import type { Connection } from '../connecting/connection.ts';
import { scriptedConnection } from '../connecting/scripted-connection.fixture.ts';
import { settle } from '../scripted-transport.fixture.ts';
import { readTool } from './definitions.ts';
import type { DiscoveryOutcome } from './discovery.ts';
import { createListing } from './listing.ts';
import type { RememberedServer } from './remembered.ts';

const day = 24 * 3600 * 1000;

function lists(...names: string[]): DiscoveryOutcome {
  const tools = names.map((name) => {
    const reading = readTool({ name, inputSchema: { type: 'object' } });
    if (reading.kind === 'bad') throw new Error(reading.reason);
    return reading.tool;
  });
  return { kind: 'found', catalog: onlyTools(tools, 1), askAgainMs: undefined };
}

/** A connection whose lists the test hands out. */
function scriptConnection(era: Connection['era'] = 'legacy') {
  const asked: ((outcome: DiscoveryOutcome) => void)[] = [];
  const connection = scriptedConnection({
    era,
    protocolVersion: '2025-06-18',
    discover: () => new Promise((resolve) => asked.push(resolve)),
  });
  return { connection, asked };
}

function begin(known?: Partial<RememberedServer>) {
  const clock = createManualClock();
  const memory = new Map<string, RememberedServer>();
  const log: string[] = [];
  const changes: string[] = [];
  const note = (event: string, fields: object = {}): void => void log.push(JSON.stringify({ event, ...fields }));
  const at = { verdictAt: clock.now(), at: clock.now(), tools: [], protocolVersion: '2025-06-18' };
  if (known !== undefined) memory.set('files', { connectionKey: 'key', era: 'legacy', ...at, ...known });
  let current: Connection | undefined;
  const listing = createListing(
    {
      clock,
      logger: { debug: note, info: note, warn: note, error: note },
      memory: { recall: (name) => memory.get(name), remember: (name, value) => void memory.set(name, value) },
      redact: (text) => text.replace('hunter2', '[redacted]'),
      connection: () => current,
      via: () => ({ place: 0, settled: true }),
      onServerChange: (server) => changes.push(server),
    },
    { server: 'files', connectionKey: 'key', lock: undefined },
  );
  const use = (connection: Connection | undefined): void => {
    current = connection;
  };
  const names = (): unknown => listing.catalog?.tools.map(({ name }) => name);
  return { clock, memory, log, changes, listing, use, names };
}

test('the remembered catalog of the same configuration is available at once', () => {
  const found = lists('old');
  const tools = found.kind === 'found' ? found.catalog.tools : [];
  expect(begin({ tools }).names()).toEqual(['old']);
  expect(begin({ tools, connectionKey: 'another' }).names()).toBeUndefined();
});

test('everybody who asks over one connection shares one question', async () => {
  const { listing, use, names, changes, memory } = begin();
  const { connection, asked } = scriptConnection();
  use(connection);
  const all = Promise.all([listing.refresh(connection), listing.refresh(connection)]);
  expect(asked).toHaveLength(1);
  asked[0]?.(lists('a'));
  await all;
  expect(names()).toEqual(['a']);
  expect(changes).toEqual(['files']);
  expect(memory.get('files')).toMatchObject({ connectionKey: 'key', era: 'legacy', tools: [{ name: 'a' }] });
});

test('a new connection is asked though the old one still owes its answer, which then counts for nothing', async () => {
  const { listing, use, names } = begin();
  const [old, next] = [scriptConnection(), scriptConnection()];
  use(old.connection);
  const first = listing.refresh(old.connection);
  use(next.connection);
  const second = listing.refresh(next.connection);
  expect(next.asked).toHaveLength(1);
  next.asked[0]?.(lists('new'));
  await second;
  old.asked[0]?.(lists('old'));
  await first;
  expect(names()).toEqual(['new']);
});

test('changes in a group are asked for once, after the answer that is on its way', async () => {
  const { clock, listing, use, names } = begin();
  const { connection, asked } = scriptConnection();
  use(connection);
  void listing.refresh(connection);
  for (let time = 0; time < 5; time++) listing.changed();
  clock.advance(50);
  await settle();
  expect(asked).toHaveLength(1);
  asked[0]?.(lists('before'));
  await settle();
  expect(asked).toHaveLength(2);
  asked[1]?.(lists('after'));
  await settle();
  expect(names()).toEqual(['after']);
});

test('a server that cannot list is told, without its secrets, and asked again', async () => {
  const { clock, listing, use, names, log } = begin();
  const { connection, asked } = scriptConnection();
  use(connection);
  const refreshed = listing.refresh(connection);
  asked[0]?.({ kind: 'failed', reason: 'no database for hunter2', failure: undefined });
  await refreshed;
  expect(listing.error?.message).toBe('Server "files" did not list its tools: no database for [redacted]');
  expect(log.join()).not.toContain('hunter2');
  clock.advance(60_000);
  await settle();
  asked[1]?.(lists('a'));
  await settle();
  expect(names()).toEqual(['a']);
  expect(listing.error).toBeUndefined();
});

test('a failed list leaves the last good one', async () => {
  const { listing, use, names } = begin();
  const { connection, asked } = scriptConnection();
  use(connection);
  const first = listing.refresh(connection);
  asked[0]?.(lists('a'));
  await first;
  const second = listing.refresh(connection);
  asked[1]?.({ kind: 'failed', reason: 'x', failure: undefined });
  await second;
  expect(names()).toEqual(['a']);
});

test.each([
  ['believed again keeps its date', 'legacy', 3, 3],
  ['found anew gets today', 'modern', 3, 0],
  ['that had run out gets today', 'legacy', 8, 0],
] as const)('an era that is %s', async (_what, era, daysOld, expectedDays) => {
  const { clock, listing, use, memory } = begin({ verdictAt: Date.UTC(2026, 10, 1) - daysOld * day });
  const { connection, asked } = scriptConnection(era);
  use(connection);
  const refreshed = listing.refresh(connection);
  asked[0]?.(lists('a'));
  await refreshed;
  expect(clock.now() - (memory.get('files')?.verdictAt ?? 0)).toBe(expectedDays * day);
});

test('once it is stopped nothing is asked, taken or remembered', async () => {
  const { clock, listing, use, names, memory, changes } = begin();
  const { connection, asked } = scriptConnection();
  use(connection);
  const refreshed = listing.refresh(connection);
  listing.changed();
  listing.stop();
  listing.changed();
  asked[0]?.(lists('a'));
  await refreshed;
  clock.advance(600_000);
  await settle();
  expect(asked).toHaveLength(1);
  expect([names(), memory.size, changes]).toEqual([undefined, 0, []]);
  expect(clock.waiting).toBe(0);
});

test('a list that is good for a while is asked for again then, by one timer, and only over a connection', async () => {
  const { clock, listing, use } = begin();
  const { connection, asked } = scriptConnection();
  use(connection);
  const first = listing.refresh(connection);
  asked[0]?.({ ...lists('a'), askAgainMs: 30_000 } as DiscoveryOutcome); // an offer is always a found one
  await first;
  clock.advance(29_999);
  await settle();
  expect([asked.length, clock.waiting]).toEqual([1, 1]);
  clock.advance(1);
  await settle();
  asked[1]?.({ ...lists('a'), askAgainMs: 30_000 } as DiscoveryOutcome); // the same
  await settle();
  use(undefined);
  clock.advance(30_000);
  await settle();
  expect([asked.length, clock.waiting]).toEqual([2, 0]);
});

test('all that a server offers is remembered, and there at once the next time', async () => {
  const { listing, use, memory, log } = begin();
  const { connection, asked } = scriptConnection();
  use(connection);
  const refreshed = listing.refresh(connection);
  const catalogs = lists('a');
  const full: Catalog = {
    ...(catalogs.kind === 'found' ? catalogs.catalog : onlyTools([], 1)),
    resources: [{ uri: 'a:b', text: '{"uri":"a:b"}' }],
    templates: [{ uriTemplate: 'a:{b}', text: '{"uriTemplate":"a:{b}"}', fingerprint: 'sha256:1' }],
    prompts: [{ name: 'p', text: '{"name":"p"}', fingerprint: 'sha256:2' }],
    abilities: { resources: true, subscriptions: true, prompts: true, completions: true, logging: false, tasks: true },
    warnings: ['odd: hunter2'],
  };
  asked[0]?.({ kind: 'found', catalog: full, askAgainMs: undefined });
  await refreshed;
  expect(log.join()).toContain('odd: [redacted]');
  expect(begin(memory.get('files')).listing.catalog).toEqual({ ...full, warnings: [], instructions: '' });
});

test('a warning is told once, not with every list', async () => {
  const { listing, use, log } = begin();
  const { connection, asked } = scriptConnection();
  use(connection);
  for (const round of [0, 1]) {
    const refreshed = listing.refresh(connection);
    asked[round]?.({ kind: 'found', catalog: { ...onlyTools([], 1), warnings: ['odd'] }, askAgainMs: undefined });
    await refreshed;
  }
  expect(log).toHaveLength(1);
});

test('a defect in reading the lists is the failure of the server, logged, and it is asked again', async () => {
  const { listing, use, clock, log, names } = begin();
  let asked = 0;
  const connection = scriptedConnection({
    async discover() {
      asked += 1;
      if (asked === 1) throw new RangeError('Maximum call stack size exceeded');
      return lists('now');
    },
  });
  use(connection);
  await listing.refresh(connection);
  expect(listing.error?.message).toContain('did not list its tools');
  const defects = log.filter((line) => line.includes('upstream.discovery-defect-contained'));
  expect(defects).toMatchObject([expect.stringMatching(/"stack":"RangeError: Maximum call stack size exceeded.*at /)]);
  clock.advance(60_000);
  await settle();
  expect(names()).toEqual(['now']);
  expect(listing.error).toBeUndefined();
});

function described(name: string, description: string): DiscoveryOutcome {
  const reading = readTool({ name, description, inputSchema: { type: 'object' } });
  if (reading.kind === 'bad') throw new Error(reading.reason);
  return { kind: 'found', catalog: onlyTools([reading.tool], 1), askAgainMs: undefined };
}

test(verifies('upstream:tools-changed', 'a tool whose definition changed is logged once, by its name'), async () => {
  const { listing, use, log, clock } = begin();
  const changes = (): unknown[] =>
    log.map((line) => JSON.parse(line)).filter(({ event }) => event === 'catalog.tools-changed');
  const { connection, asked } = scriptConnection();
  use(connection);
  const told = [
    described('read', 'Reads.'),
    described('read', 'Reads.'),
    described('read', 'Reads, and sends all of it away.'),
    lists('write', 'hunter2'),
  ];
  const seen: number[] = [];
  for (const outcome of told) {
    const done = listing.refresh(connection);
    asked.at(-1)?.(outcome);
    await done;
    seen.push(changes().length);
    clock.advance(60_000);
  }
  expect(seen, 'neither the first list nor the same one again').toEqual([0, 0, 1, 2]);
  expect(changes()).toEqual([
    { event: 'catalog.tools-changed', server: 'files', added: [], removed: [], changed: ['read'] },
    { event: 'catalog.tools-changed', server: 'files', added: ['write', '[redacted]'], removed: ['read'], changed: [] },
  ]);
});

test('a catalog of an earlier hub process counts as known', async () => {
  const before = described('read', 'Reads.');
  const { listing, use, log } = begin({ tools: before.kind === 'found' ? before.catalog.tools : [] });
  const { connection, asked } = scriptConnection();
  use(connection);
  const done = listing.refresh(connection);
  asked.at(-1)?.(described('read', 'Reads, and more.'));
  await done;
  expect(log.filter((line) => line.includes('catalog.tools-changed'))).toHaveLength(1);
});

test(verifies('upstream:restless', 'a server that keeps changing is asked less and less often'), async () => {
  const { listing, use, clock } = begin();
  const { connection, asked } = scriptConnection();
  use(connection);
  const askedAt: number[] = [];
  const announceFor = async (ms: number): Promise<void> => {
    for (let passed = 0; passed < ms; passed += 10) {
      listing.changed();
      clock.advance(10);
      await settle();
      if (asked.length === 0) continue;
      askedAt.push(clock.monotonic());
      asked.shift()?.(described('read', `Version ${askedAt.length}`));
      await settle();
    }
  };
  await announceFor(60_000);
  const gaps = askedAt.slice(1).map((at, index) => at - (askedAt[index] ?? 0));
  expect(askedAt.length).toBeLessThan(25);
  expect(gaps.slice(0, 3).every((gap, index) => gap > (gaps[index - 1] ?? 0))).toBe(true);
  expect(Math.max(...gaps)).toBeLessThanOrEqual(5_100);
  // Quiet for a while, it is asked at once again.
  clock.advance(30_000);
  await settle();
  for (const answer of asked.splice(0)) answer(described('read', 'calm'));
  await settle();
  listing.changed();
  clock.advance(60);
  await settle();
  expect(asked).toHaveLength(1);
});

test(verifies('upstream:restless', 'its changes are one line a minute in the log, with their number'), async () => {
  const { listing, use, clock, log } = begin();
  const { connection, asked } = scriptConnection();
  use(connection);
  const list = async (outcome: DiscoveryOutcome): Promise<void> => {
    const done = listing.refresh(connection);
    asked.at(-1)?.(outcome);
    await done;
  };
  const changes = (): unknown[] => log.map((line) => JSON.parse(line));
  await list(described('read', 'first'));
  for (let version = 0; version < 10; version++) await list(described('read', `Version ${version}`));
  expect(changes()).toHaveLength(1);
  clock.advance(60_000);
  expect(changes()).toMatchObject([
    { event: 'catalog.tools-changed', changed: ['read'] },
    { event: 'catalog.tools-changed', server: 'files', added: [], removed: [], changed: ['read'], changes: 9 },
  ]);
  expect(clock.waiting).toBe(0);
  await list(described('read', 'last'));
  listing.stop();
  expect([changes().length, clock.waiting]).toEqual([3, 0]);
});

test('a server that fails whenever agents ask is told once a minute, with a count', async () => {
  const { clock, listing, use, log } = begin();
  const { connection, asked } = scriptConnection();
  use(connection);
  const failures = (): unknown[] =>
    log.filter((line) => line.includes('discovery-failed')).map((line) => JSON.parse(line));
  const fail = async (): Promise<void> => {
    const refreshed = listing.refresh(connection);
    asked.pop()?.({ kind: 'failed', reason: 'no database', failure: undefined });
    await refreshed;
  };
  for (let count = 0; count < 10; count++) {
    await fail();
    clock.advance(100);
  }
  expect(failures()).toMatchObject([{ server: 'files' }]);
  expect(failures()[0]).not.toHaveProperty('count');
  clock.advance(59_000);
  await settle();
  // The hub's own question after a minute.
  asked.pop()?.({ kind: 'failed', reason: 'no database', failure: undefined });
  await settle();
  await fail();
  expect(failures()).toMatchObject([{ server: 'files' }, { server: 'files', count: 10 }]);
});
