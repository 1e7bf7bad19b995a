import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { verifies } from '../../test/support/verifies.ts';
import { createSilentLogger, createSystemClock, systemRandom } from '../base/index.ts';
import { createManualClock } from '../base/manual-clock.fixture.ts';
import type { Caller } from '../domain/index.ts';
import { openLedger, readCalls } from '../ledger/index.ts';
import { placesIn } from '../ledger/ledger-places.fixture.ts';
import { createRedactor } from '../vault/index.ts';
import { createRefusedCalls, recordedPerMinute } from './refusal-records.ts';

function callerOf(agent: string): Caller {
  return { agent, project: 'workspace', chain: [agent], tokenId: `token of ${agent}`, run: 'run' };
}

test(
  verifies('ledger:refused-rate', 'the count of a minute that ended between two sweeps is recorded with the next call'),
  async () => {
    const workspace = mkdtempSync(join(tmpdir(), 'qm-refused-'));
    onTestFinished(() => rmSync(workspace, { recursive: true }));
    const deps = { logger: createSilentLogger(), random: systemRandom, redact: createRedactor([]) };
    const places = { workspace, journal: { root: workspace, names: ['state', 'journal'] } };
    const ledger = await openLedger({ ...deps, clock: createSystemClock() }, { ...places, sync: 'os' });
    onTestFinished(() => ledger.close());
    const clock = createManualClock();
    const refused = createRefusedCalls({ clock, ledger });
    const refuse = (agent: string, count: number): void => {
      for (let each = 0; each < count; each++) refused.isRecorded(callerOf(agent), 'denied');
    };
    const summaries = async (): Promise<unknown[]> => {
      await ledger.flush();
      const calls = await readCalls(placesIn(workspace));
      return calls.map(({ agent, args }) => [agent, (args as { count?: number }).count]); // as summaries have it
    };
    // The first sweep is due a minute after the first call, the second one a minute later.
    refuse('early', 1);
    clock.advance(30_000);
    refuse('late', recordedPerMinute + 7);
    clock.advance(30_000);
    expect(await summaries()).toEqual([]);
    clock.advance(40_000);
    refuse('late', 1);
    expect(await summaries()).toEqual([['late', 7]]);
    clock.advance(120_000);
    refused.close();
    expect(await summaries()).toEqual([['late', 7]]);
  },
);
