import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createSilentLogger, createSystemClock, systemRandom } from '../../base/index.ts';
import { openLedger, readCalls, verifyLedger } from '../index.ts';
import { placesIn } from '../ledger-places.fixture.ts';

test('an act is in the chain without secrets, and is no call', async () => {
  const workspace = await mkdtemp(join(tmpdir(), 'qm-admin-'));
  onTestFinished(() => rm(workspace, { recursive: true }));
  const [clock, hide] = [createSystemClock(), (text: string): string => text.replaceAll('hunter2', '[redacted]')];
  const deps = { clock, logger: createSilentLogger(), random: systemRandom, redact: { json: hide, message: hide } };
  const ledger = await openLedger(deps, { ...placesIn(workspace), sync: 'os' });
  await ledger.admin({ who: 'hub', how: 'hub', what: 'config.applied', subject: 'hunter2 files' });
  await ledger.close();
  const folder = join(workspace, 'state/journal');
  const text = readFileSync(join(folder, readdirSync(folder)[0] ?? ''), 'utf8');
  expect(text).toContain('"who":"hub","how":"hub","what":"config.applied","subject":"[redacted] files"}');
  expect(await verifyLedger({ clock }, placesIn(workspace))).toMatchObject({ ok: true, records: 2, findings: [] });
  expect(await readCalls(placesIn(workspace))).toEqual([]);
});
