import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createMovingClock } from '../../../test/support/moving-clock.ts';
import { verifies } from '../../../test/support/verifies.ts';
import { createSilentLogger, systemRandom } from '../../base/index.ts';
import { type Ledger, ledgerConnection, ledgerSubject, openLedger } from '../index.ts';
import { placesIn } from '../ledger-places.fixture.ts';

const connection = ledgerConnection({ transport: 'stdio', protocolVersion: '2025-11-25', sessionId: null });
const hush = (text: string): string => text.replaceAll('hunter2', '[redacted]');
const long = JSON.stringify({ text: `hunter2 ${'x'.repeat(992)}` });
const short = '{"text":"short"}';

async function openStage() {
  const workspace = await mkdtemp(join(tmpdir(), 'qm-ledger-'));
  const clock = createMovingClock();
  clock.hold();
  const deps = { clock, logger: createSilentLogger(), random: systemRandom, redact: { json: hush, message: hush } };
  const ledger = await openLedger(deps, { ...placesIn(workspace), sync: 'os', argumentsPerMinute: 2500 });
  onTestFinished(async () => {
    await ledger.close();
    await rm(workspace, { recursive: true });
  });
  return { workspace, clock, ledger };
}

async function call(ledger: Ledger, chain: readonly string[], args: string): Promise<void> {
  const [agent = ''] = chain;
  const subject = ledgerSubject({ agent, chain, server: 'files', tool: 'write', decision: 'allow' });
  const record = ledger.open(subject, 'run', args);
  await ledger.sent(record, connection);
  ledger.done(record, { outcome: 'ok', durationMs: 1 });
}

test(
  verifies('ledger:argument-budget', 'every call has its line, and the agents of a chain share one budget'),
  async () => {
    const { workspace, clock, ledger } = await openStage();
    await call(ledger, ['a'], long);
    await call(ledger, ['helper', 'a'], long);
    await call(ledger, ['another', 'a'], long);
    await call(ledger, ['a'], short);
    await call(ledger, ['b'], long);
    clock.advance(60_000);
    await call(ledger, ['a'], long);
    await ledger.flush();
    const text = readFileSync(join(workspace, '.runs/agents/run/mcp_calls.jsonl'), 'utf8');
    const lines = text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>); // a run file has objects
    const kept = JSON.parse(hush(long)) as unknown;
    expect(lines.map(({ agent, args }) => [agent, args])).toEqual([
      ['a', kept],
      ['helper', kept],
      ['another', expect.stringMatching(/^\{"text":"\[redacted\] x{200,}$/)],
      ['a', { text: 'short' }],
      ['b', kept],
      ['a', kept],
    ]);
    expect(lines.filter((line) => 'args_length' in line)).toEqual([
      expect.objectContaining({
        agent: 'another',
        args_length: long.length,
        args_sha256: createHash('sha256').update(long).digest('hex'),
      }),
    ]);
  },
);
