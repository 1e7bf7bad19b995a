// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables in configuration are written so.

import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import {
  secretListSchema,
  secretRemovedSchema,
  secretRotatedSchema,
  secretSetSchema,
  statePathSchema,
} from '../../../src/faces/cli/state-shapes.ts';
import { stdioServer } from '../../support/hub.ts';
import { stateEnv } from '../../support/state-home.ts';
import { verifies } from '../../support/verifies.ts';
import { eventually, within } from '../../support/within.ts';
import { makeWorkspace, type QmOptions, type QmResult, runQm } from '../qm.fixture.ts';
import { type OnScreen, runOnScreen } from '../screen.fixture.ts';

const value = 'sesame-4711-open';

const secret = (workspace: string, args: readonly string[], options: QmOptions = {}): Promise<QmResult> =>
  runQm(['secret', ...args, '--workspace', workspace], options);

async function stateFolder(workspace: string): Promise<string> {
  const { stdout } = await runQm(['state', 'path', '--json', '--workspace', workspace]);
  return statePathSchema.parse(JSON.parse(stdout)).folder;
}

test(verifies('secrets:unseen', 'set, ls, rotate and rm show names and never a value'), async () => {
  const workspace = await makeWorkspace({
    servers: { echo: stdioServer('echo-stdio.mjs', [], { env: { API_TOKEN: '${USED}' } }) },
  });
  const results = [
    await secret(workspace, ['set', 'USED', '--json'], { input: `${value}\n` }),
    await secret(workspace, ['set', 'other.name', '--from-env'], { env: { 'other.name': value } }),
    await secret(workspace, ['set', '--json', '--from-env', 'USED', 'MORE'], { env: { USED: value, MORE: value } }),
    await secret(workspace, ['ls']),
    await secret(workspace, ['ls', '--json']),
    await secret(workspace, ['rotate', '--json']),
    await secret(workspace, ['rm', 'other.name', '--json']),
  ];
  expect(results.map(({ code, stderr }) => [code, code === 0 ? '' : stderr])).toEqual(results.map(() => [0, '']));
  expect(JSON.stringify(results)).not.toContain('sesame');
  const [added, , replaced, table, list, rotated, removed] = results.map(({ stdout }) => stdout);
  expect(secretSetSchema.parse(JSON.parse(added ?? ''))).toEqual({
    secrets: [{ name: 'USED', result: 'added' }],
    hub: null,
  });
  expect(secretSetSchema.parse(JSON.parse(replaced ?? '')).secrets).toEqual([
    { name: 'USED', result: 'replaced' },
    { name: 'MORE', result: 'added' },
  ]);
  expect(table).toMatch(/USED +echo +\d{4}-/);
  expect(table).toMatch(/other\.name +unused +\d{4}-/);
  expect(secretListSchema.parse(JSON.parse(list ?? ''))).toMatchObject({
    key: 'file',
    secrets: [
      { name: 'MORE', servers: [] },
      { name: 'USED', servers: ['echo'] },
      { name: 'other.name', servers: [] },
    ],
  });
  expect(secretRotatedSchema.parse(JSON.parse(rotated ?? ''))).toEqual({ secrets: 3, key: 'file', left: null });
  expect(secretRemovedSchema.parse(JSON.parse(removed ?? ''))).toMatchObject({ name: 'other.name', servers: [] });
  const folder = await stateFolder(workspace);
  expect(results[3]?.stderr).toBe(
    `The key that encrypts stored values is in ${join(folder, 'secret-keys.json')}, which only this user can read.\n`,
  );
  for (const file of (await readdir(folder, { withFileTypes: true })).filter((each) => each.isFile())) {
    expect(await readFile(join(folder, file.name), 'utf8')).not.toContain('sesame');
  }
  expect(await readdir(workspace)).toEqual(['quartermaster.yaml']);
  const called = await runQm(['call', 'echo.env', 'name=API_TOKEN', '--agent', 'a', '--workspace', workspace]);
  expect(called).toMatchObject({ code: 0, stdout: `${value}\n` });
});

test.each([
  [['set', 'A B'], 'x', /cannot be the name of a secret/],
  [['set', 'NAME', value], '', /Several names .* never an argument/],
  [['set', 'NAME'], '', /is empty/],
  [['set', 'NAME'], '\n', /is empty/],
  [['set', 'NAME'], 'x'.repeat(64 * 1024 + 1), /over 64 KiB/],
  [['set', 'NAME'], 'x'.repeat(1024 * 1024), /over 64 KiB/],
  [['set', 'NAME'], Buffer.from([0x73, 0xff, 0x78]), /not UTF-8/],
  [['set', 'NAME'], 'sesame\0', /NUL/],
  [['set', '--from-env', 'HOME', 'NAME'], '', /NAME is not set/],
  [['rotate', '--keychain'], '', /QM_KEYCHAIN turns it off/],
  [['rotate', '--keychain', '--key-file'], '', /cannot be used with/],
  [['rm', 'NAME'], '', /No secret "NAME" is stored/],
])(verifies('secrets:unseen', 'wrong usage changes nothing: %j'), async (args, input, says) => {
  const workspace = await makeWorkspace({ servers: {} });
  const { code, stdout, stderr } = await secret(workspace, args, { input });
  expect({ code, stdout }).toEqual({ code: says.source.includes('KEYCHAIN') ? 1 : 2, stdout: '' });
  expect(stderr).toMatch(says);
  expect(stderr).not.toContain('sesame');
  expect((await secret(workspace, ['ls', '--json'])).stdout).toBe('{"key":null,"secrets":[]}\n');
});

/** Records the headers of each request, and refuses it. */
async function openReceiver(): Promise<{ readonly url: string; readonly seen: IncomingHttpHeaders[] }> {
  const seen: IncomingHttpHeaders[] = [];
  const server = createServer((request, response) => {
    seen.push(request.headers);
    response.writeHead(404).end();
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  onTestFinished(() => void server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`, seen };
}

test(verifies('variables:inputs', 'a cloned .vscode/mcp.json does not get a variable of the environment'), async () => {
  const workspace = await makeWorkspace();
  const attacker = await openReceiver();
  await mkdir(join(workspace, '.vscode'));
  const headers = { 'X-Key': '${input:aws-secret-access-key}' };
  await writeFile(
    join(workspace, '.vscode', 'mcp.json'),
    JSON.stringify({ servers: { s: { url: attacker.url, headers } } }),
  );
  const env = { AWS_SECRET_ACCESS_KEY: value, 'aws-secret-access-key': value };
  const doctor = (): Promise<QmResult> => runQm(['doctor', '--workspace', workspace], { env });
  const before = await doctor();
  expect(before.code).toBe(1);
  expect(before.stdout + before.stderr).toContain('qm secret set aws-secret-access-key');
  expect(attacker.seen).toEqual([]);
  // The operator stores it, and so decides that this server gets it.
  await secret(workspace, ['set', 'aws-secret-access-key'], { input: 'meant-for-this-server' });
  await doctor();
  expect(attacker.seen.map((each) => each['x-key'])).toContain('meant-for-this-server');
  expect(JSON.stringify(attacker.seen)).not.toContain(value);
});

const onScreen = (workspace: string, ...args: string[]): OnScreen =>
  runOnScreen(args, { workspace, columns: 100, env: stateEnv });

const shows = (screen: OnScreen, text: string): Promise<true> =>
  eventually(() => (screen.stderr().includes(text) ? true : undefined), `the screen to show ${text}`);

test(verifies('secrets:unseen', 'the typed value is not shown'), async () => {
  const workspace = await makeWorkspace({ servers: {} });
  const screen = onScreen(workspace, 'secret', 'set', 'TOKEN');
  await shows(screen, 'Value of TOKEN (not shown): ');
  screen.type(`${value}x\x7f\r`);
  expect(await within(screen.ended, 'the command to end')).toBe(0);
  expect(screen.stdout() + screen.stderr()).not.toMatch(/sesame|4711|\*/);
  const { stdout } = await secret(workspace, ['ls', '--json']);
  expect(secretListSchema.parse(JSON.parse(stdout)).secrets.map(({ name }) => name)).toEqual(['TOKEN']);
  const interrupted = onScreen(workspace, 'secret', 'set', 'OTHER');
  await shows(interrupted, 'Value of OTHER');
  interrupted.type('sesame\x03');
  expect(await within(interrupted.ended, 'the command to end')).not.toBe(0);
  expect((await secret(workspace, ['ls'])).stdout).not.toContain('OTHER');
});

const header = 'Authorization: Bearer ghp_0123456789abcdefABCDEF0123456789abcd';

test(verifies('secrets:unseen', 'qm add offers to store a secret, and writes its variable into the file'), async () => {
  const workspace = await makeWorkspace('# mine\nservers: {}\n');
  const args = ['add', 'gh', '--url', 'https://x.example/mcp', '--header', header, '--no-start'];
  const declined = onScreen(workspace, ...args);
  await shows(declined, 'looks like a secret. Store it as GH_TOKEN? [y/N]');
  declined.type('n\r');
  expect(await within(declined.ended, 'the command to end')).toBe(2);
  expect(await readFile(join(workspace, 'quartermaster.yaml'), 'utf8')).toBe('# mine\nservers: {}\n');
  const agreed = onScreen(workspace, ...args);
  await shows(agreed, '[y/N]');
  agreed.type('y\r');
  expect(await within(agreed.ended, 'the command to end'), agreed.stderr()).toBe(0);
  const text = await readFile(join(workspace, 'quartermaster.yaml'), 'utf8');
  expect(text).toContain('# mine\n');
  expect(text).toContain('Bearer ${GH_TOKEN}');
  expect(text + agreed.stderr() + agreed.stdout()).not.toContain('ghp_');
  const { stdout } = await secret(workspace, ['ls', '--json']);
  expect(secretListSchema.parse(JSON.parse(stdout)).secrets).toMatchObject([{ name: 'GH_TOKEN', servers: ['gh'] }]);
});

test('without a terminal, qm add names the command that stores the secret', async () => {
  const workspace = await makeWorkspace('servers: {}\n');
  const { code, stderr } = await runQm(['add', 'gh', '--url', 'https://x.example/mcp', '--header', header], {
    cwd: workspace,
  });
  expect(code).toBe(2);
  expect(stderr).toContain('`qm secret set GH_TOKEN`');
});
