import { readdirSync, rmSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { verifies } from '../../../test/support/verifies.ts';
import { createSilentLogger, createSystemClock, systemRandom } from '../../base/index.ts';
import { type ExportPositions, jsonlFormat, openLedger, runExport } from '../index.ts';
import { placesIn } from '../ledger-places.fixture.ts';

const clock = createSystemClock();

test(verifies('ledger:export', 'the position forgets hubs whose files retention removed'), async () => {
  const workspace = await mkdtemp(join(tmpdir(), 'qm-export-'));
  onTestFinished(() => rm(workspace, { recursive: true }));
  const positions: ExportPositions = new Map();
  const first = await life(workspace);
  await exportAll(workspace, positions);
  expect([...positions.keys()]).toEqual([first]);
  const folder = join(workspace, 'state/journal');
  const [old = ''] = readdirSync(folder);
  const second = await life(workspace);
  rmSync(join(folder, old));
  expect(await exportAll(workspace, positions)).toBeGreaterThan(0);
  expect([...positions.keys()]).toEqual([second]);
  rmSync(folder, { recursive: true });
  expect(await exportAll(workspace, positions)).toBe(0);
  // The folder may only be unavailable.
  expect([...positions.keys()]).toEqual([second]);
});

/** Returns the id of the life. */
async function life(workspace: string): Promise<string> {
  const folder = join(workspace, 'state/journal');
  const same = (text: string): string => text;
  const deps = { clock, logger: createSilentLogger(), random: systemRandom, redact: { json: same, message: same } };
  const ledger = await openLedger(deps, { ...placesIn(workspace), sync: 'os' });
  const [name = ''] = readdirSync(folder).filter((file) => file.endsWith('.jsonl'));
  await ledger.admin({ who: 'hub', how: 'hub', what: 'config.applied', subject: 'a test' });
  await ledger.close();
  return name.replace(/^[^-]*-|\.jsonl$/g, '');
}

function exportAll(workspace: string, positions: ExportPositions): Promise<number> {
  return runExport({ clock }, placesIn(workspace), {
    format: jsonlFormat(),
    positions,
    follow: false,
    signal: new AbortController().signal,
    send: async () => {},
    onAcknowledged: async () => {},
  });
}
