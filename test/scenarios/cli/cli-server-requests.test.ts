import { expect, test } from 'vitest';
import { stdioServer } from '../../support/hub.ts';
import { verifies } from '../../support/verifies.ts';
import { eventually } from '../../support/within.ts';
import { makeWorkspace, runQm } from '../qm.fixture.ts';
import { type OnScreen, runOnScreen } from '../screen.fixture.ts';

const eras = ['legacy', 'modern'] as const;

async function workspaceOf(era: (typeof eras)[number]): Promise<string> {
  const server = stdioServer('matrix.mjs', ['--era', era, '--label', 'm', '--stdio']);
  return makeWorkspace({ servers: { m: { ...server, isolation: 'per-session' } } });
}

async function callOnScreen(era: (typeof eras)[number], tool: string): Promise<OnScreen> {
  const args = ['call', `m.${tool}`, 'nonce=n', '--agent', 'a'];
  return runOnScreen(args, { workspace: await workspaceOf(era), columns: 100, env: { NO_COLOR: '1' } });
}

/** Waits for each text before typing the keys that follow it. */
async function converse(
  running: OnScreen,
  steps: readonly (readonly [waitFor: string, keys: string])[],
): Promise<void> {
  let seen = 0;
  for (const [text, keys] of steps) {
    const at = await eventually(() => {
      const found = running.stderr().indexOf(text, seen);
      return found < 0 ? undefined : found;
    }, text);
    seen = at + text.length;
    running.type(keys);
  }
}

test.each(eras)(verifies('call:form', 'a user at a terminal fills in the form of a %s server'), async (era) => {
  const running = await callOnScreen(era, 'ask_twice');
  await converse(running, [
    ['Server m asks: m:n:first', ''],
    ['answer (text): ', '\r'],
    ['It is needed.', ''],
    ['answer (text): ', 'blue\r'],
    ['Send this to m? [Y/n] ', '\r'],
    ['Server m asks: m:n:second after accept:blue', ''],
    ['answer (text): ', 'green\r'],
    ['Send this to m? [Y/n] ', 'y\r'],
  ]);
  expect(await running.ended).toBe(0);
  expect(running.stdout()).toBe('m:n:accept:green\n');
});

test.each([
  ['Ctrl-D declines', '\u0004', 'decline'],
  ['Ctrl-C closes the form, and the call goes on', '\u0003', 'cancel'],
])(verifies('call:form', '%s'), async (_title, key, action) => {
  const running = await callOnScreen('legacy', 'ask_form');
  await converse(running, [['answer (text): ', key]]);
  expect(await running.ended).toBe(0);
  expect(running.stdout()).toBe(`m:n:${action}\n`);
});

test.each(eras)('the URL of a %s server is shown, and the call continues only with consent', async (era) => {
  const agreed = await callOnScreen(era, 'ask_url');
  await converse(agreed, [
    ['https://example.com/?for=m:n', ''],
    ['Go on? [y/N] ', 'y\r'],
  ]);
  expect(await agreed.ended).toBe(0);
  expect(agreed.stdout()).toBe('m:n:accept\n');
  const refused = await callOnScreen(era, 'ask_url');
  await converse(refused, [['Go on? [y/N] ', '\r']]);
  await refused.ended;
  expect(refused.stdout()).toBe('m:n:decline\n');
});

test('a signal ends the call while a form is open', async () => {
  const running = await callOnScreen('legacy', 'ask_form');
  await converse(running, [['answer (text): ', 'half of it']]);
  running.signal('SIGTERM');
  expect(await running.ended).toBe(130);
  expect(running.stderr()).toContain('cancelled');
});

test.each(eras)(
  verifies('call:form', 'without a terminal, a %s server is told that elicitation is not available'),
  async (era) => {
    const workspace = await workspaceOf(era);
    const { code, stdout, stderr } = await runQm([
      'call',
      'm.ask_form',
      'nonce=n',
      '--agent',
      'a',
      '--workspace',
      workspace,
    ]);
    expect(code).toBe(1);
    expect(stdout + stderr).toMatch(era === 'legacy' ? /Not offered by this client/ : /elicitation/);
    const onScreen = await callOnScreen(era, 'ask_form');
    await converse(onScreen, [['answer (text): ', '\u0004']]);
    await onScreen.ended;
    const asJson = runOnScreen(['call', 'm.ask_form', 'nonce=n', '--agent', 'a', '--json'], {
      workspace,
      columns: 100,
    });
    expect(await asJson.ended).toBe(1);
    expect(asJson.stderr()).not.toContain('asks:');
  },
);
