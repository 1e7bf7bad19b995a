import { existsSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { isAlive } from '../../../src/upstream/children/fixtures/processes.mjs';
import { stdioServer } from '../../support/hub.ts';
import { verifies } from '../../support/verifies.ts';
import { eventually } from '../../support/within.ts';
import { makeWorkspace, serveQm, startQm } from '../qm.fixture.ts';
import { runOnScreen } from '../screen.fixture.ts';

const echo = { servers: { echo: stdioServer('echo-stdio.mjs') } };

/** Runs a module before the program. */
function importing(module: string): Readonly<Record<string, string>> {
  return { NODE_OPTIONS: `--import=data:text/javascript;base64,${Buffer.from(module).toString('base64')}` };
}

const fileSystem = `import { writeFileSync } from 'node:fs';`;

test.each([
  ['call echo.echo --args - --agent a', 'for arguments on stdin'],
  ['secret set TOKEN', 'for a value on stdin'],
  ['calls --follow', 'for further calls'],
])(verifies('cli:interrupt', 'Ctrl-C ends qm %s with 130 while it waits %s'), async (line) => {
  const workspace = await makeWorkspace(echo);
  const mark = join(workspace, 'listens');
  const env = importing(
    `${fileSystem} process.on('newListener', (event) => { if (event === 'SIGINT') writeFileSync(${JSON.stringify(mark)}, ''); });`,
  );
  const running = startQm([...line.split(' '), '--workspace', workspace], { env });
  await eventually(() => existsSync(mark) || undefined, 'a listener');
  running.signal('SIGINT');
  expect(await running.ended()).toMatchObject({ code: 130, stdout: '' });
});

test.each(['tools --agent a', 'call echo.echo message=1 --agent a', 'doctor', 'inspect echo', 'stdio --agent a'])(
  verifies('cli:interrupt', 'Ctrl-C ends qm %s with 130 while the hub starts'),
  async (line) => {
    const workspace = await makeWorkspace(echo);
    const pidFile = join(workspace, 'hub.pid');
    // Holds the hub in the background before its first line, for longer than the test.
    const hold = `${fileSystem}
if (process.argv[2] === 'hub') {
  writeFileSync(${JSON.stringify(pidFile)}, String(process.pid));
  await new Promise((done) => setTimeout(done, 300_000));
}`;
    const env = { ...importing(hold), QM_FOREGROUND: '' };
    const running = startQm([...line.split(' '), '--workspace', workspace], { env });
    const hub = await eventually(
      async () => Number(await readFile(pidFile, 'utf8').catch(() => '')) || undefined,
      'a hub',
    );
    onTestFinished(() => {
      if (isAlive(hub)) process.kill(hub, 'SIGKILL');
    });
    running.signal('SIGINT');
    expect(await running.ended()).toMatchObject({ code: 130, stdout: '' });
  },
);

test(verifies('cli:interrupt', 'a hub that serves ends with 130 by Ctrl-C, and with 0 by SIGTERM'), async () => {
  const workspace = await makeWorkspace(echo);
  for (const [signal, code] of [
    ['SIGINT', 130],
    ['SIGTERM', 0],
  ] as const) {
    const hub = await serveQm(workspace);
    hub.signal(signal);
    expect((await hub.ended()).code, signal).toBe(code);
  }
});

test.each(['state prune', 'secret set TOKEN'])(
  verifies('cli:interrupt', 'Ctrl-C at the question of qm %s ends it with 130'),
  async (line) => {
    const workspace = await makeWorkspace(echo);
    const gone = await makeWorkspace(echo);
    const stateHome = { QM_STATE_DIR: join(await makeWorkspace(), 'state') };
    const issue = startQm(['token', 'issue', '--agent', 'a', '--workspace', gone], { env: stateHome });
    expect((await issue.ended()).code).toBe(0);
    await rm(gone, { recursive: true });
    const screen = runOnScreen(line.split(' '), { workspace, columns: 80, env: stateHome });
    await eventually(() => /\[y\/N\]|not shown/.test(screen.stderr()) || undefined, 'the question');
    screen.type('\x03');
    expect(await screen.ended).toBe(130);
  },
);

test.each([
  'ls',
  'help',
  'tools --agent a',
  'explain echo.echo --agent a',
  'trust --show',
  'doctor',
  'completion bash',
])(verifies('cli:interrupt', 'qm %s ends quietly when nobody reads its output'), async (line) => {
  const workspace = await makeWorkspace(echo);
  const running = startQm([...line.split(' '), '--workspace', workspace], { env: { QM_FOREGROUND: '1' } });
  running.child.stdout.destroy();
  running.child.stderr.destroy();
  const { code } = await running.ended();
  expect([0, 130]).toContain(code);
});
