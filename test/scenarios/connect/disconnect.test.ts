import { expect, test } from 'vitest';
import { clientListSchema } from '../../../src/faces/cli/json-shapes.ts';
import { verifies } from '../../support/verifies.ts';
import { eventually, within } from '../../support/within.ts';
import { runOnScreen } from '../screen.fixture.ts';
import { echo, type Machine, makeMachine } from './machine.fixture.ts';

async function open(): Promise<Machine> {
  const machine = await makeMachine();
  await machine.put('quartermaster.yaml', { servers: { echo } });
  return machine;
}

test(
  verifies('connect:refuse', 'without a terminal, disconnecting needs --yes and writes nothing before'),
  async () => {
    const machine = await open();
    await machine.connect('cursor');
    const before = machine.snapshot();
    for (const args of [[], ['--json']]) {
      const refused = await machine.qm('disconnect', 'cursor', ...args);
      expect(refused).toMatchObject({ code: 2, stdout: '' });
      expect(refused.stderr).toMatch(/Nothing was written: there is no terminal to ask\..*Add --yes to agree\./);
    }
    expect(machine.snapshot()).toEqual(before);
    const done = await machine.disconnect('cursor');
    expect(done.stdout).toBe('Cursor is not connected to this workspace any more.\n');
    expect(done.stderr).toContain('Restart Cursor: until then it may still use the hub.\n');
    expect(done.stderr).not.toContain('switch the server on');
  },
);

test('on a terminal it asks; Enter agrees', async () => {
  const machine = await open();
  const before = machine.snapshot();
  await machine.connect('cursor');
  for (const [answer, isGone] of [
    ['n\r', false],
    ['\r', true],
  ] as const) {
    const screen = runOnScreen(['disconnect', 'cursor'], { ...machine, columns: 160 });
    await eventually(() => screen.stderr().includes('Write this? [Y/n]') || undefined, 'the question');
    screen.type(answer);
    expect(await within(screen.ended, 'the command to end')).toBe(0);
    expect(machine.snapshot()['team/.cursor/mcp.json'] === undefined).toBe(isGone);
  }
  expect(machine.snapshot()).toEqual(before);
});

test('without a client, connect and disconnect list them and name one that is left', async () => {
  const machine = await open();
  await machine.put('~/.cursor/x', '');
  expect(await machine.qm('disconnect')).toMatchObject({
    code: 0,
    stdout: '',
    stderr: 'No client is connected to this workspace.\n',
  });
  expect((await machine.qm('connect')).stderr).toBe('Connect one: qm connect cursor --agent NAME\n');
  await machine.connect('cursor');
  const all = await machine.qm('connect');
  expect(all).toMatchObject({ code: 0, stderr: '' });
  expect(all.stdout).toContain('cursor');
  await machine.connect('zed');
  const list = await machine.qm('disconnect');
  expect(list.stdout).toMatch(/CLIENT +FOUND +CONNECTED AS +IN\ncursor .*tester.*\nzed .*tester/);
  expect(list.stderr).toBe('Disconnect one: qm disconnect cursor\n');
  const rows = clientListSchema.parse(JSON.parse((await machine.qm('disconnect', '--json')).stdout));
  expect(rows.map(({ client }) => client)).toEqual(['cursor', 'zed']);
});
