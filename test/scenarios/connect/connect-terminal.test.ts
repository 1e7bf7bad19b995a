import { expect, test } from 'vitest';
import { connectSchema, lsSchema } from '../../../src/faces/cli/json-shapes.ts';
import { verifies } from '../../support/verifies.ts';
import { eventually, within } from '../../support/within.ts';
import { runQm, startQm } from '../qm.fixture.ts';
import { type OnScreen, runOnScreen } from '../screen.fixture.ts';
import { agent, echo, type Machine, makeMachine } from './machine.fixture.ts';

function onScreen({ workspace, env }: Machine, ...args: string[]): OnScreen {
  return runOnScreen(args, { workspace, columns: 160, env });
}

async function shows(screen: OnScreen, text: string): Promise<void> {
  const look = (): true | undefined => (screen.stderr().includes(text) ? true : undefined);
  await eventually(look, `the screen to show ${text}; it shows ${screen.stderr()}`);
}

test(
  verifies('connect:trust', 'on a terminal the servers are asked about first; Enter agrees to the rest'),
  async () => {
    const machine = await makeMachine({ trusted: false });
    await machine.put('.mcp.json', { mcpServers: { echo } });
    const screen = onScreen(machine, 'connect', 'claude-code', '--agent', agent);
    await shows(screen, 'Approve? [y]es');
    expect(machine.snapshot()).not.toHaveProperty('home/.claude.json');
    screen.type('y\r');
    await shows(screen, 'Have Claude Code use these servers only through the hub? [Y/n]');
    screen.type('\r');
    await shows(screen, 'Write this? [Y/n]');
    screen.type('\r');
    await shows(screen, 'Waiting for the first call of Claude Code … (Ctrl-C ends the wait)');
    expect(screen.stderr()).toContain('Server echo answers: 9 tools.');
    expect(machine.read('~/.claude.json')).toContain('"disabledMcpServers": ["echo"]');
    screen.signal('SIGINT');
    expect(await within(screen.ended, 'the command to end')).toBe(130);
    expect(screen.stderr()).toContain(
      'Stopped waiting. Claude Code is connected; `qm calls --follow` shows its calls.',
    );
    expect(screen.stdout()).toBe('Claude Code is connected as tester, by "hub" in ~/.claude.json.\n');
  },
);

test('who declines keeps the own entries, and who declines all gets nothing', async () => {
  const machine = await makeMachine();
  await machine.put('.mcp.json', { mcpServers: { echo } });
  const before = machine.snapshot();
  const refused = onScreen(machine, 'connect', 'claude-code', '--agent', agent, '--no-wait', '--no-start');
  await shows(refused, 'only through the hub? [Y/n]');
  refused.type('n\r');
  await shows(refused, 'Write this? [Y/n]');
  refused.type('no\r');
  expect(await within(refused.ended, 'the command to end')).toBe(0);
  expect(refused.stderr()).toContain('Nothing was written.');
  expect(machine.snapshot()).toEqual(before);
  const kept = onScreen(machine, 'connect', 'claude-code', '--agent', agent, '--no-wait', '--no-start');
  await shows(kept, 'only through the hub? [Y/n]');
  kept.type('n\r');
  await shows(kept, 'Write this? [Y/n]');
  kept.type('\r');
  expect(await within(kept.ended, 'the command to end')).toBe(0);
  expect(machine.read('~/.claude.json')).toContain('"hub"');
  expect(machine.read('~/.claude.json')).not.toContain('disabledMcpServers');
});

test(verifies('connect:meanwhile', 'on a terminal a changed entry is asked about; Enter keeps it'), async () => {
  const machine = await makeMachine();
  await machine.put('quartermaster.yaml', { servers: { echo } });
  await machine.connect('cursor');
  const changed = machine.read('.cursor/mcp.json').replace('"tester"', '"lead"');
  await machine.put('.cursor/mcp.json', changed);
  const kept = onScreen(machine, 'disconnect', 'cursor');
  await shows(kept, 'Undo it all the same? [y/N]');
  kept.type('\r');
  expect(await within(kept.ended, 'the command to end')).toBe(0);
  expect(machine.read('.cursor/mcp.json')).toBe(changed);
  const undone = onScreen(machine, 'disconnect', 'cursor');
  await shows(undone, 'Undo it all the same? [y/N]');
  undone.type('y\r');
  expect(await within(undone.ended, 'the command to end')).toBe(0);
  expect(machine.snapshot()).not.toHaveProperty('team/.cursor/mcp.json');
});

test(
  verifies('connect:first-call', 'the first call of that agent ends the wait, and an earlier or other one does not'),
  async () => {
    const machine = await makeMachine();
    await machine.put('quartermaster.yaml', { servers: { echo } });
    const env = { ...machine.env, QM_FOREGROUND: '1' };
    const call = (who: string, message: string) =>
      runQm(['call', 'echo.echo', `message=${message}`, '--agent', who, '--workspace', machine.workspace], { env });
    expect(await call(agent, 'before')).toMatchObject({ code: 0 });
    const args = ['connect', 'zed', '--agent', agent, '--yes', '--wait', '--json', '--workspace', machine.workspace];
    const waiting = startQm(args, { env });
    await eventually(
      () => (machine.snapshot()['team/.zed/settings.json'] === undefined ? undefined : true),
      'the entry',
    );
    // Whatever it calls before the command listens is lost, so that it calls until it is heard.
    expect(await call('other', 'not this one')).toMatchObject({ code: 0 });
    const until = new AbortController();
    const ended = waiting.ended().finally(() => until.abort());
    while (!until.signal.aborted) await call(agent, 'hello');
    const { code, stdout } = await ended;
    expect(code).toBe(0);
    expect(connectSchema.parse(JSON.parse(stdout)).firstCall).toMatchObject({ server: 'echo', tool: 'echo' });
  },
);

test(
  verifies(
    'connect:first-contact',
    'a new server is started once, so that its tools are known before the client comes',
  ),
  async () => {
    const machine = await makeMachine();
    await machine.put('quartermaster.yaml', { servers: { echo, gone: { command: '/nowhere/gone' } } });
    const tools = async (): Promise<unknown> => {
      const { servers } = lsSchema.parse(JSON.parse((await machine.qm('ls', '--json')).stdout));
      return Object.fromEntries(servers.map((server) => [server.name, server.tools]));
    };
    expect(await tools()).toEqual({ echo: undefined, gone: undefined });
    const { stdout } = await machine.qm('connect', 'zed', '--agent', agent, '--yes', '--json');
    const { started } = connectSchema.parse(JSON.parse(stdout));
    expect(started.toSorted((a, b) => (a.server < b.server ? -1 : 1))).toEqual([
      { server: 'echo', tools: 9 },
      { server: 'gone', tools: null },
    ]);
    expect(await tools()).toEqual({ echo: 9, gone: undefined });
    const again = connectSchema.parse(
      JSON.parse((await machine.qm('connect', 'zed', '--agent', agent, '--yes', '--json')).stdout),
    );
    expect(again.started).toEqual([{ server: 'gone', tools: null }]);
  },
);

test('lines of the preview are not broken on a narrow terminal', async () => {
  const machine = await makeMachine();
  const args = ['long-enough-for-eighty-columns', 'and some more words that could be broken', 'into two lines'];
  await machine.put('.vscode/mcp.json', { servers: { echo: { ...echo, env: { WORDS: args.join(' ') } } } });
  const options = { workspace: machine.workspace, columns: 80, env: machine.env };
  const screen = runOnScreen(['connect', 'vscode', '--agent', agent, '--no-wait', '--no-start'], options);
  await shows(screen, '[Y/n]');
  expect(screen.stderr()).toContain(`"WORDS": "${args.join(' ')}"`);
  screen.signal('SIGINT');
  await within(screen.ended, 'the command to end');
});
