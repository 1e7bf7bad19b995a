import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const run = promisify(execFile);
const program = join(import.meta.dirname, '..', '..', 'soak', 'run.mjs');

test('a short soak gives no wrong answer and leaves nothing behind', { timeout: 240_000 }, async () => {
  const args = [program, '--minutes', '0.15', '--rate', '30', '--seed', '7'];
  const { stdout } = await run(process.execPath, args, { timeout: 220_000 }).catch((error) => error);
  expect(stdout).toMatch(/^all +[1-9]\d+ +\d+ +\d+ +0 +0$/m);
  expect(stdout).toMatch(/^soak: good, seed 7$/m);
});
