import { expect, test } from 'vitest';
import { readCalls } from '../../../src/ledger/index.ts';
import { stdioServer } from '../../support/hub.ts';
import { ledgerOf } from '../../support/state-home.ts';
import { verifies } from '../../support/verifies.ts';
import { makeWorkspace, type QmResult, runQm, serveQm } from '../qm.fixture.ts';

const echo = stdioServer('echo-stdio.mjs');

function call(workspace: string, ...args: string[]): Promise<QmResult> {
  return runQm(['call', ...args, '--agent', 'tester', '--workspace', workspace]);
}

test(verifies('call:one-hub', 'a call beside a hub counts against its limits and is in its ledger'), async () => {
  const workspace = await makeWorkspace({
    servers: { echo: { ...echo, limits: { rate_per_min: 2 } } },
    agents: { tester: { servers: ['echo'] } },
  });
  const hub = await serveQm(workspace);
  const first = await call(workspace, 'echo.add', 'a=1', 'b=2', '--run', 'joined');
  expect(first).toMatchObject({ code: 0, stdout: '3\n' });
  const second = await call(workspace, 'echo_add', '--args', '{\n "a": 2,\n "b": 3\n}', '--json', '--run', 'joined');
  expect(JSON.parse(second.stdout)).toEqual({ content: [{ type: 'text', text: '5' }] });
  const third = await call(workspace, 'echo.add', 'a=1', 'b=2', '--json', '--run', 'joined');
  expect(third.code).toBe(1);
  expect(JSON.parse(third.stderr)).toMatchObject({ error: { code: 'RATE_LIMITED' } });
  hub.signal('SIGTERM');
  await hub.ended();
  expect(await readCalls(ledgerOf(workspace), { run: 'joined' })).toHaveLength(3);
});

test('errors are the same as without a hub', async () => {
  const workspace = await makeWorkspace({
    servers: { echo, other: echo },
    agents: { tester: { servers: ['echo'] } },
  });
  const attempts = [
    ['echo.nothing'],
    ['other.add', 'a=1', 'b=2'],
    ['nowhere.add'],
    ['echo.add', 'a=x', 'b=2'],
    ['echo.slow', 'ms=60000', '--timeout', '1s'],
  ];
  const alone = [];
  for (const args of attempts) alone.push(await call(workspace, ...args, '--json'));
  await serveQm(workspace);
  for (const [index, args] of attempts.entries()) {
    const joined = await call(workspace, ...args, '--json');
    expect(joined.code, args.join(' ')).toBe(alone[index]?.code);
    const errorOf = ({ stderr }: Pick<QmResult, 'stderr'>): unknown =>
      (JSON.parse(stderr) as { error: { code: string; message: string } }).error;
    expect(errorOf(joined), args.join(' ')).toEqual(errorOf(alone[index] ?? { stderr: '' }));
  }
});

test('of an unavailable server, the operator gets the reason and the command that tells more', async () => {
  const workspace = await makeWorkspace({ servers: { bad: stdioServer('bad.mjs', ['exits-at-start']) } });
  const { code, stderr } = await call(workspace, 'bad.anything');
  expect(code).toBe(1);
  expect(stderr).toContain('Server "bad" is unavailable: its process exited');
  expect(stderr).toContain('`qm doctor bad` shows what to do.');
  expect(stderr).not.toContain('continue without');
});
