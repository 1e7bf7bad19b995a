import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { expect, onTestFinished, test } from 'vitest';
import { identifyThisProcess, isRunning, startFromPs } from './process-identity.ts';

test('this process runs, and tells the same of itself each time', async () => {
  const me = await identifyThisProcess();
  expect(me.pid).toBe(process.pid);
  expect(me.startTime).not.toBe('');
  expect(await identifyThisProcess()).toEqual(me);
  expect(await isRunning(me)).toBe(true);
});

test('another life of the same pid is not it', async () => {
  const me = await identifyThisProcess();
  expect(await isRunning({ ...me, startTime: `${me.startTime}0` })).toBe(false);
  expect(await isRunning({ ...me, startTime: '' })).toBe(true);
});

test('a process that ended does not run', async () => {
  const child = spawn('true');
  await once(child, 'exit');
  expect(await isRunning({ pid: child.pid ?? 0, startTime: '' })).toBe(false);
});

test('a process that ended does not run even if nobody collected it', async () => {
  // The shell turns into sleep, which never collects the child it inherits.
  const parent = spawn('sh', ['-c', 'sleep 0.3 & echo $!; exec sleep 30'], { stdio: ['ignore', 'pipe', 'ignore'] });
  onTestFinished(() => {
    parent.kill('SIGKILL');
  });
  const [line] = await once(parent.stdout, 'data');
  const pid = Number(String(line));
  await expect.poll(() => readFile(`/proc/${pid}/stat`, 'latin1'), { timeout: 60_000 }).toContain(') Z ');
  expect(await isRunning({ pid, startTime: '' })).toBe(false);
});

test('where /proc is missing, ps tells processes apart', async () => {
  const first = await startFromPs(process.pid);
  expect(first).toMatchObject({ kind: 'started', at: expect.stringMatching(/^\w{3} \w{3} \d+ [\d:]+ \d{4}$/) });
  expect(await startFromPs(process.pid)).toEqual(first);
  expect(await startFromPs(2 ** 22 + 1)).toEqual({ kind: 'unknown' });
});
