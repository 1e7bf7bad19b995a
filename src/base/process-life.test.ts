import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, onTestFinished, test } from 'vitest';
import { answersSignals, isAlive, readProcess, thisProcess } from './process-life.ts';

const hasProc = process.platform === 'linux';

test('this process lives, and another life of its pid does not', () => {
  const self = thisProcess();
  expect(self.pid).toBe(process.pid);
  expect(thisProcess()).toEqual(self);
  expect(isAlive(self)).toBe(true);
  expect(isAlive({ pid: self.pid, start: undefined })).toBe(true);
  expect(isAlive({ pid: self.pid, start: (self.start ?? 0) + 1 })).toBe(!hasProc);
});

test('a row tells parent, group and start, whatever the command calls itself', async () => {
  // `process.title` becomes the name in parentheses.
  const child = run(process.execPath, [
    '-e',
    'process.title = ") Z (1 2"; console.log("ready"); setInterval(() => {}, 1000)',
  ]);
  if (child.stdout !== null) await once(child.stdout, 'data');
  const row = readProcess(child.pid ?? 0);
  if (!hasProc) {
    expect(row).toBeUndefined();
    return;
  }
  expect(row).toMatchObject({ parent: process.pid, group: child.pid, ended: false });
  expect(row?.start).toBeGreaterThanOrEqual(thisProcess().start ?? Infinity);
});

test('a process that ended is not alive', async () => {
  const child = run('true', []);
  await once(child, 'exit');
  expect(answersSignals(child.pid ?? 0)).toBe(false);
  expect(readProcess(child.pid ?? 0)).toBeUndefined();
  expect(isAlive({ pid: child.pid ?? 0, start: undefined })).toBe(false);
});

test('a process that ended and was not collected answers signals, and is alive only where /proc cannot tell', async () => {
  // The shell turns into sleep, which never collects the child it inherits.
  const parent = run('sh', ['-c', 'sleep 0.2 & echo $!; exec sleep 30']);
  const [line] = parent.stdout === null ? [] : await once(parent.stdout, 'data');
  const pid = Number(String(line));
  await expect.poll(() => readProcess(pid)?.ended ?? !hasProc, { timeout: 60_000 }).toBe(true);
  expect(answersSignals(pid)).toBe(true);
  expect(isAlive({ pid, start: readProcess(pid)?.start })).toBe(!hasProc);
});

function run(command: string, args: readonly string[]): ChildProcess {
  const child = spawn(command, args, { detached: true, stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  return child;
}
