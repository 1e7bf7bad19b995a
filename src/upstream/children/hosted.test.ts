import { PassThrough } from 'node:stream';
import { expect, onTestFinished, test } from 'vitest';
import { within } from '../../../test/support/within.ts';
import { createSilentLogger, createSystemClock, HubError, systemRandom } from '../../base/index.ts';
import { type BuiltinOrder, type Builtins, type ChildStreams, createChildren } from './index.ts';

const spec = { server: 'repo', type: 'builtin', builtin: 'git', args: ['--x'], env: { A: '1' }, cwd: '/' } as const;

function hubWith(builtins: Builtins | undefined) {
  const children = createChildren(
    { clock: createSystemClock(), logger: createSilentLogger(), random: systemRandom },
    { baseEnv: { PATH: '/usr/bin:/bin' }, graceMs: 100, builtins },
  );
  onTestFinished(() => children.close());
  return children;
}

function streamsThatEnd(): ChildStreams {
  let end = (): void => {};
  const exited = new Promise<{ code: null; signal: null; stderrTail: string }>((resolve) => {
    end = () => resolve({ code: null, signal: null, stderrTail: '' });
  });
  return { stdin: new PassThrough(), stdout: new PassThrough(), exited, stop: async () => end(), kill: () => end() };
}

test('a server inside the hub is given what a program would be given, and ends with the hub', async () => {
  const orders: BuiltinOrder[] = [];
  const streams = streamsThatEnd();
  const children = hubWith({
    async open(order) {
      orders.push(order);
      return streams;
    },
  });
  expect(await children.host(spec)).toBe(streams);
  expect(orders).toMatchObject([{ builtin: 'git', args: ['--x'], cwd: '/', env: { PATH: '/usr/bin:/bin', A: '1' } }]);
  // What it starts bears the mark by which processes are found, should the hub die.
  expect(orders[0]?.env.QUARTERMASTER_CHILD).toContain(`:${process.pid}:`);
  expect(children.watchdogPid).toEqual(expect.any(Number));
  expect(children.running).toBe(0);
  await children.close();
  await within(streams.exited, 'its end');
  await expect(children.host(spec)).rejects.toMatchObject({ code: 'HUB_STOPPING' });
});

test('why it was not opened is told with the name of the server', async () => {
  const children = hubWith({
    open: () => Promise.reject(new HubError('USAGE', 'There is no repository at /x.', { hint: 'Name one.' })),
  });
  await expect(children.host(spec)).rejects.toMatchObject({
    code: 'UPSTREAM_UNAVAILABLE',
    message: 'Server "repo" was not started. There is no repository at /x.',
    hint: 'Name one.',
    details: { server: 'repo' },
  });
});

test('a hub that was made without them says so', async () => {
  await expect(hubWith(undefined).host(spec)).rejects.toMatchObject({
    code: 'UPSTREAM_UNAVAILABLE',
    message: expect.stringContaining('without built-in servers'),
  });
});
