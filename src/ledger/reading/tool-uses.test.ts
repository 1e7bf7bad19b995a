import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createSilentLogger, createSystemClock, systemRandom } from '../../base/index.ts';
import { type Ledger, ledgerConnection, ledgerSubject, openLedger, type SubjectFacts } from '../index.ts';
import { placesIn } from '../ledger-places.fixture.ts';
import { readToolUses } from './tool-uses.ts';

const clock = createSystemClock();
let workspace: string;
let ledger: Ledger;
/** The hub's time of the next call. */
let now: number;

beforeEach(async () => {
  workspace = await mkdtemp(join(tmpdir(), 'qm-uses-'));
  now = clock.now();
  const same = (text: string): string => text;
  ledger = await openLedger(
    {
      clock: { ...clock, now: () => now },
      logger: createSilentLogger(),
      random: systemRandom,
      redact: { json: same, message: same },
    },
    { ...placesIn(workspace), sync: 'os', rotateBytes: 600 },
  );
});

afterEach(async () => {
  await ledger.close();
  await rm(workspace, { recursive: true });
});

async function call(
  tool: string,
  run = 'one',
  more: Partial<SubjectFacts> & { readonly open?: true } = {},
): Promise<void> {
  const { open, ...facts } = more;
  const subject = ledgerSubject({ agent: 'a', chain: ['a'], server: 's', tool, decision: 'allow', ...facts });
  const opened = ledger.open(subject, run, '{}');
  await ledger.sent(opened, ledgerConnection({ transport: 'stdio', protocolVersion: '2025-11-25', sessionId: null }));
  if (open !== true) ledger.done(opened, { outcome: 'ok', durationMs: 1 });
  await ledger.flush();
}

test('uses are counted over all files, with the last one, and a call in flight is one', async () => {
  for (const run of ['one', 'two', 'one', 'two']) await call('read', run);
  now += 5_000;
  await call('read', 'three');
  await call('write', 'three', { open: true });
  const { source, agents } = await readToolUses(placesIn(workspace), { clock });
  const own = agents.get('a');
  expect([source, own?.calls, own?.runs]).toEqual(['journal', 6, 3]);
  expect(own?.of('s', 'read')).toEqual({ count: 5, last: new Date(now).toISOString() });
  expect(own?.of('s', 'write')).toMatchObject({ count: 1 });
  expect([own?.of('s', 'move'), own?.of('other', 'read')]).toEqual([undefined, undefined]);
});

test('a delegated call is a use by the whole chain', async () => {
  await call('read', 'one', { agent: 'b', chain: ['b', 'a'] });
  const { agents } = await readToolUses(placesIn(workspace), { clock });
  expect([...agents.keys()].map((name) => agents.get(name)?.of('s', 'read')?.count)).toEqual([1, 1]);
});

test('calls before a time do not count', async () => {
  const begin = now;
  await call('read');
  now += 60_000;
  await call('write');
  const { agents, from } = await readToolUses(placesIn(workspace), { clock, since: begin + 1 });
  expect(from).toBe(new Date(now).toISOString());
  expect([agents.get('a')?.of('s', 'read'), agents.get('a')?.of('s', 'write')?.count]).toEqual([undefined, 1]);
});

test('a denied call, and another method than a tool call, is no use of a tool', async () => {
  await call('read', 'one', { decision: 'deny' });
  await call('prompt:write', 'one', { method: 'prompts/get' });
  const { agents } = await readToolUses(placesIn(workspace), { clock });
  expect(agents.get('a')?.calls).toBe(2);
  expect(['read', 'write', 'prompt:write'].map((tool) => agents.get('a')?.of('s', tool))).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
});

test('without calls there is nothing', async () => {
  expect(await readToolUses(placesIn(workspace), { clock })).toMatchObject({ source: 'copies', from: null });
});
