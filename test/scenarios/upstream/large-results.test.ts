import { execFile } from 'node:child_process';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { verifies } from '../../support/verifies.ts';

const script = join(resolve(import.meta.dirname, '../..'), 'soak', 'unread.mjs');

interface Row {
  readonly delivering: number;
  readonly refused: number;
  readonly codes: Readonly<Record<string, number>>;
  readonly other: string;
  readonly hub: string;
}

/** The short form of a run that is documented in the script. */
async function run(...args: string[]): Promise<Row> {
  const { stdout } = await promisify(execFile)(process.execPath, [script, ...args], { timeout: 150_000 });
  return JSON.parse(stdout) as Row;
}

test(verifies(
  'http:unread-answers',
  'large results that are read at once arrive one after the other, or are refused',
), async () => {
  const row = await run('--results', '8', '--megabytes', '6', '--heap', '128', '--read');
  expect(row).toMatchObject({ other: 'works', hub: 'lives' });
  expect(row.delivering + row.refused).toBe(8);
  expect(row.delivering).toBeGreaterThan(0);
  // None waits for the others until it times out.
  expect(Object.keys(row.codes).filter((code) => code !== 'RESULT_TOO_LARGE')).toEqual([]);
}, 180_000);
