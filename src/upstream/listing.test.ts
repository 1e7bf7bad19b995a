import { expect, test } from 'vitest';
import { verifies } from '../../test/support/verifies.ts';
import { createManualClock } from '../base/manual-clock.fixture.ts';
import { type Catalog, onlyTools } from '../domain/index.ts';
import { readTool } from './definitions.ts';
import type { DiscoveryOutcome } from './discovery.ts';
import type { Link } from './link.ts';
import { createListing } from './listing.ts';
import type { RememberedServer } from './remembered.ts';
import { scriptedLink } from './scripted-link.fixture.ts';
import { settle } from './scripted-wire.fixture.ts';

const day = 24 * 3600 * 1000;

function offer(...names: string[]): DiscoveryOutcome {
  const tools = names.map((name) => {
    const reading = readTool({ name, inputSchema: { type: 'object' } });
    if (reading.kind === 'bad') throw new Error(reading.reason);
    return reading.tool;
  });
  return { kind: 'found', catalog: onlyTools(tools, 1), askAgainMs: undefined };
}

/** A connection whose lists the test hands out. */
function scriptLink(era: Link['era'] = 'legacy') {
  const asked: ((outcome: DiscoveryOutcome) => void)[] = [];
  const link = scriptedLink({
    era,
    protocolVersion: '2025-06-18',
    discover: () => new Promise((resolve) => asked.push(resolve)),
  });
  return { link, asked };
}

function begin(known?: Partial<RememberedServer>) {
  const clock = createManualClock();
  const memory = new Map<string, RememberedServer>();
  const log: string[] = [];
  const changes: string[] = [];
  const note = (event: string, fields: object = {}): void => void log.push(JSON.stringify({ event, ...fields }));
  const at = { verdictAt: clock.now(), at: clock.now(), tools: [], protocolVersion: '2025-06-18' };
  if (known !== undefined) memory.set('files', { connectionKey: 'key', era: 'legacy', ...at, ...known });
  let current: Link | undefined;
  const listing = createListing(
    {
      clock,
      logger: { debug: note, info: note, warn: note, error: note },
      memory: { recall: (name) => memory.get(name), remember: (name, value) => void memory.set(name, value) },
      redact: (text) => text.replace('hunter2', '[redacted]'),
      link: () => current,
      via: () => ({ place: 0, settled: true }),
      onChange: (server) => changes.push(server),
    },
    { server: 'files', connectionKey: 'key' },
  );
  const use = (link: Link | undefined): void => {
    current = link;
  };
  const names = (): unknown => listing.catalog?.tools.map(({ name }) => name);
  return { clock, memory, log, changes, listing, use, names };
}

test('what was remembered under the same configuration is there at once', () => {
  const found = offer('old');
  const tools = found.kind === 'found' ? found.catalog.tools : [];
  expect(begin({ tools }).names()).toEqual(['old']);
  expect(begin({ tools, connectionKey: 'another' }).names()).toBeUndefined();
});

test('everybody who asks over one connection shares one question', async () => {
  const { listing, use, names, changes, memory } = begin();
  const { link, asked } = scriptLink();
  use(link);
  const all = Promise.all([listing.refresh(link), listing.refresh(link)]);
  expect(asked).toHaveLength(1);
  asked[0]?.(offer('a'));
  await all;
  expect(names()).toEqual(['a']);
  expect(changes).toEqual(['files']);
  expect(memory.get('files')).toMatchObject({ connectionKey: 'key', era: 'legacy', tools: [{ name: 'a' }] });
});

test('a new connection is asked though the old one still owes its answer, which then counts for nothing', async () => {
  const { listing, use, names } = begin();
  const [old, next] = [scriptLink(), scriptLink()];
  use(old.link);
  const first = listing.refresh(old.link);
  use(next.link);
  const second = listing.refresh(next.link);
  expect(next.asked).toHaveLength(1);
  next.asked[0]?.(offer('new'));
  await second;
  old.asked[0]?.(offer('old'));
  await first;
  expect(names()).toEqual(['new']);
});

test('changes in a group are asked for once, after the answer that is on its way', async () => {
  const { clock, listing, use, names } = begin();
  const { link, asked } = scriptLink();
  use(link);
  void listing.refresh(link);
  for (let time = 0; time < 5; time++) listing.changed();
  clock.advance(50);
  await settle();
  expect(asked).toHaveLength(1);
  asked[0]?.(offer('before'));
  await settle();
  expect(asked).toHaveLength(2);
  asked[1]?.(offer('after'));
  await settle();
  expect(names()).toEqual(['after']);
});

test('a server that cannot list is told, without its secrets, and asked again', async () => {
  const { clock, listing, use, names, log } = begin();
  const { link, asked } = scriptLink();
  use(link);
  const refreshed = listing.refresh(link);
  asked[0]?.({ kind: 'failed', reason: 'no database for hunter2', failure: undefined });
  await refreshed;
  expect(listing.error?.message).toBe('Server "files" did not list its tools: no database for [redacted]');
  expect(log.join()).not.toContain('hunter2');
  clock.advance(60_000);
  await settle();
  asked[1]?.(offer('a'));
  await settle();
  expect(names()).toEqual(['a']);
  expect(listing.error).toBeUndefined();
});

test('a failed list leaves the last good one', async () => {
  const { listing, use, names } = begin();
  const { link, asked } = scriptLink();
  use(link);
  const first = listing.refresh(link);
  asked[0]?.(offer('a'));
  await first;
  const second = listing.refresh(link);
  asked[1]?.({ kind: 'failed', reason: 'x', failure: undefined });
  await second;
  expect(names()).toEqual(['a']);
});

test.each([
  ['believed again keeps its date', 'legacy', 3, 3],
  ['found anew gets today', 'modern', 3, 0],
  ['that had run out gets today', 'legacy', 8, 0],
] as const)('a verdict that is %s', async (_what, era, daysOld, expectedDays) => {
  const { clock, listing, use, memory } = begin({ verdictAt: Date.UTC(2026, 10, 1) - daysOld * day });
  const { link, asked } = scriptLink(era);
  use(link);
  const refreshed = listing.refresh(link);
  asked[0]?.(offer('a'));
  await refreshed;
  expect(clock.now() - (memory.get('files')?.verdictAt ?? 0)).toBe(expectedDays * day);
});

test('once it is stopped nothing is asked, taken or remembered', async () => {
  const { clock, listing, use, names, memory, changes } = begin();
  const { link, asked } = scriptLink();
  use(link);
  const refreshed = listing.refresh(link);
  listing.changed();
  listing.stop();
  listing.changed();
  asked[0]?.(offer('a'));
  await refreshed;
  clock.advance(600_000);
  await settle();
  expect(asked).toHaveLength(1);
  expect([names(), memory.size, changes]).toEqual([undefined, 0, []]);
  expect(clock.waiting).toBe(0);
});

test('a list that is good for a while is asked for again then, by one timer, and only over a connection', async () => {
  const { clock, listing, use } = begin();
  const { link, asked } = scriptLink();
  use(link);
  const first = listing.refresh(link);
  asked[0]?.({ ...offer('a'), askAgainMs: 30_000 } as DiscoveryOutcome); // an offer is always a found one
  await first;
  clock.advance(29_999);
  await settle();
  expect([asked.length, clock.waiting]).toEqual([1, 1]);
  clock.advance(1);
  await settle();
  asked[1]?.({ ...offer('a'), askAgainMs: 30_000 } as DiscoveryOutcome); // the same
  await settle();
  use(undefined);
  clock.advance(30_000);
  await settle();
  expect([asked.length, clock.waiting]).toEqual([2, 0]);
});

test('all that a server offers is remembered, and there at once the next time', async () => {
  const { listing, use, memory, log } = begin();
  const { link, asked } = scriptLink();
  use(link);
  const refreshed = listing.refresh(link);
  const offered = offer('a');
  const full: Catalog = {
    ...(offered.kind === 'found' ? offered.catalog : onlyTools([], 1)),
    resources: [{ uri: 'a:b', text: '{"uri":"a:b"}' }],
    templates: [{ uriTemplate: 'a:{b}', text: '{"uriTemplate":"a:{b}"}' }],
    prompts: [{ name: 'p', text: '{"name":"p"}' }],
    abilities: { resources: true, subscriptions: true, prompts: true, completions: true, logging: false, tasks: true },
    warnings: ['odd: hunter2'],
  };
  asked[0]?.({ kind: 'found', catalog: full, askAgainMs: undefined });
  await refreshed;
  expect(log.join()).toContain('odd: [redacted]');
  expect(begin(memory.get('files')).listing.catalog).toEqual({ ...full, warnings: [] });
});

test('a warning is told once, not with every list', async () => {
  const { listing, use, log } = begin();
  const { link, asked } = scriptLink();
  use(link);
  for (const round of [0, 1]) {
    const refreshed = listing.refresh(link);
    asked[round]?.({ kind: 'found', catalog: { ...onlyTools([], 1), warnings: ['odd'] }, askAgainMs: undefined });
    await refreshed;
  }
  expect(log).toHaveLength(1);
});

test('a defect in reading the lists is the failure of the server, logged, and it is asked again', async () => {
  const { listing, use, clock, log, names } = begin();
  let asked = 0;
  const link = scriptedLink({
    async discover() {
      asked += 1;
      if (asked === 1) throw new RangeError('Maximum call stack size exceeded');
      return offer('now');
    },
  });
  use(link);
  await listing.refresh(link);
  expect(listing.error?.message).toContain('did not list its tools');
  const defects = log.filter((line) => line.includes('upstream_discovery_defect'));
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
  const { listing, use, log } = begin();
  const changes = (): unknown[] =>
    log.map((line) => JSON.parse(line)).filter(({ event }) => event === 'catalog.tools-changed');
  const { link, asked } = scriptLink();
  use(link);
  const told = [
    described('read', 'Reads.'),
    described('read', 'Reads.'),
    described('read', 'Reads, and sends all of it away.'),
    offer('write', 'hunter2'),
  ];
  const seen: number[] = [];
  for (const outcome of told) {
    const done = listing.refresh(link);
    asked.at(-1)?.(outcome);
    await done;
    seen.push(changes().length);
  }
  expect(seen, 'neither the first list nor the same one again').toEqual([0, 0, 1, 2]);
  expect(changes()).toEqual([
    { event: 'catalog.tools-changed', server: 'files', added: [], removed: [], changed: ['read'] },
    { event: 'catalog.tools-changed', server: 'files', added: ['write', '[redacted]'], removed: ['read'], changed: [] },
  ]);
});

test('what a server offered in an earlier life of the hub counts as known', async () => {
  const before = described('read', 'Reads.');
  const { listing, use, log } = begin({ tools: before.kind === 'found' ? before.catalog.tools : [] });
  const { link, asked } = scriptLink();
  use(link);
  const done = listing.refresh(link);
  asked.at(-1)?.(described('read', 'Reads, and more.'));
  await done;
  expect(log.filter((line) => line.includes('catalog.tools-changed'))).toHaveLength(1);
});
