import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { verifies } from '../../../test/support/verifies.ts';
import { eventually } from '../../../test/support/within.ts';
import { createSilentLogger, systemRandom } from '../../base/index.ts';
import { createManualClock, type ManualClock } from '../../base/manual-clock.fixture.ts';
import { type Ledger, openLedger } from '../index.ts';
import { placesIn } from '../ledger-places.fixture.ts';
import { believedTime, rememberTime } from './believed-time.ts';

const hour = 3_600_000;
const day = 24 * hour;
const year = 365 * day;
let workspace: string;

beforeEach(async () => {
  workspace = await mkdtemp(join(tmpdir(), 'qm-retention-clock-'));
  mkdirSync(join(workspace, 'state/journal'), { recursive: true, mode: 0o700 });
});

afterEach(() => rm(workspace, { recursive: true }));

test(
  verifies('ledger:clock', 'a clock that goes a year ahead and back removes nothing early and keeps nothing late'),
  async () => {
    const clock = createShiftedClock();
    const [first] = await life(clock);
    const ledger = await open(clock);
    await watch(clock, 30);
    clock.shift(year);
    const [second] = await life(clock);
    await watch(clock, 18);
    expect(sealed()).toEqual([first, second]);
    clock.shift(-year);
    await watch(clock, 30);
    expect(sealed()).toEqual([first, second]);
    expect(statSync(pathOf(second)).mtimeMs).toBeLessThanOrEqual(clock.now());
    await watch(clock, 8 * 24);
    expect(sealed()).toEqual([]);
    await ledger.close();
  },
);

test(verifies('ledger:clock', 'hubs that start while the clock is wrong remove nothing either'), async () => {
  const clock = createShiftedClock();
  const [first] = await life(clock);
  const before = await open(clock);
  await watch(clock, 30);
  await before.close();
  clock.shift(year);
  for (let start = 0; start < 3; start++) {
    const wrong = await open(clock);
    await watch(clock, 6);
    await wrong.close();
  }
  expect(sealed()).toEqual([first]);
});

test(
  verifies('ledger:clock', 'without its memory of the clock, retention removes nothing by age for a day'),
  async () => {
    const clock = createShiftedClock();
    const [first] = await life(clock);
    clock.advance(30 * day);
    writeFileSync(join(workspace, 'state/retention-clock.json'), '{"last":');
    const ledger = await open(clock);
    await watch(clock, 18);
    expect(sealed()).toEqual([first]);
    await watch(clock, 12);
    expect(sealed()).toEqual([]);
    await ledger.close();
  },
);

test('a night and a small correction are no jump; a week is one', () => {
  let memory = rememberTime(undefined, 0);
  for (const time of [10 * hour, 20 * hour, 19.5 * hour, 40 * hour]) memory = rememberTime(memory, time);
  expect(believedTime(memory)).toBe(40 * hour);
  memory = rememberTime(memory, 10 * day);
  expect(believedTime(memory)).toBe(40 * hour);
  memory = rememberTime(memory, 11 * day);
  expect(believedTime(memory)).toBe(11 * day);
});

interface ShiftedClock extends ManualClock {
  shift(ms: number): void;
}

function createShiftedClock(): ShiftedClock {
  const clock = createManualClock();
  let shifted = 0;
  return Object.assign(Object.create(clock) as ManualClock, {
    now: () => clock.now() + shifted,
    shift(ms: number) {
      shifted += ms;
    },
  });
}

async function open(clock: ManualClock): Promise<Ledger> {
  const same = (text: string): string => text;
  const deps = { clock, logger: createSilentLogger(), random: systemRandom, redact: { json: same, message: same } };
  const keep = { days: 7, megabytes: 1024 };
  return await openLedger(deps, { ...placesIn(workspace), sync: 'os', retention: { keep, runs: keep } });
}

/** A hub that ran just now. Returns the names of its files. */
async function life(clock: ManualClock): Promise<string[]> {
  const earlier = new Set(names());
  const ledger = await open(clock);
  await ledger.admin({ who: 'hub', how: 'hub', what: 'config.applied', subject: 'a test' });
  await ledger.close();
  const made = names().filter((name) => !earlier.has(name));
  const now = new Date(clock.now());
  // The ledger's clock is not that of the file system.
  for (const name of made) utimesSync(pathOf(name), now, now);
  return made;
}

/** Has retention look at the clock every six hours, and waits until it did. */
async function watch(clock: ManualClock, hours: number): Promise<void> {
  for (let passed = 0; passed < hours; passed += 6) {
    clock.advance(6 * hour);
    const time = clock.now();
    await eventually(() => {
      // Between two files that it removes, retention waits for a moment.
      clock.advance(1000);
      return Math.abs(lastLook() - time) < hour / 2 || undefined;
    }, 'retention to look');
  }
}

function lastLook(): number {
  const file = join(workspace, 'state/retention-clock.json');
  const text = existsSync(file) ? readFileSync(file, 'utf8') : '{}';
  return text.endsWith('}') ? ((JSON.parse(text) as { last?: number }).last ?? 0) : 0;
}

function sealed(): string[] {
  return names().filter((name) => name.endsWith('.sealed'));
}

function names(): string[] {
  return readdirSync(join(workspace, 'state/journal')).sort();
}

function pathOf(name = ''): string {
  return join(workspace, 'state/journal', name);
}
