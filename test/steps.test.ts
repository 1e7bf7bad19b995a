import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';

const steps = pathToFileURL(resolve(import.meta.dirname, '../scripts/steps.mjs')).href;

test('steps run in order and stop at the first failure, which is named', () => {
  const run = runSteps(`[
    { name: 'one', run: () => { console.log('one ran'); return true; } },
    { name: 'two', run: () => false },
    { name: 'three', run: () => { console.log('three ran'); return true; } },
  ]`);
  expect(run.stdout).toContain('one ran');
  expect(run.stdout).not.toContain('three');
  expect(run.stderr).toContain('the step "two" failed');
  expect(run.status).toBe(1);
});

test('nothing is printed after a step with its own summary', () => {
  const run = runSteps(
    `[{ name: 'tests', speaksForItself: true, run: () => { console.log('1 failed'); return false; } }]`,
  );
  expect(run.stdout.trimEnd().split('\n').at(-1)).toBe('1 failed');
  expect(run.stderr).toBe('');
  expect(run.status).toBe(1);
});

test('all good is exit code 0', () => {
  expect(runSteps(`[{ name: 'one', run: () => true }]`).status).toBe(0);
});

function runSteps(list: string): { status: number | null; stdout: string; stderr: string } {
  const script = `import { runSteps } from ${JSON.stringify(steps)}; runSteps(${list});`;
  return spawnSync(process.execPath, ['--input-type=module', '--eval', script], { encoding: 'utf8', timeout: 20_000 });
}
