import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { lsSchema, toolsSchema, trustSchema } from '../../../src/faces/cli/json-shapes.ts';
import { fixturePath } from '../../support/fixture-servers.ts';
import { stdioServer } from '../../support/hub.ts';
import { verifies } from '../../support/verifies.ts';
import { configure, makeWorkspace, type QmOptions, runQm } from '../qm.fixture.ts';

const named = stdioServer('named-tools.mjs', ['look', 'write']);
/** A person without `trust.paths`. */
const asks = { XDG_CONFIG_HOME: '/nonexistent' };

const qm = (workspace: string, [command = '', ...args]: readonly string[], options: QmOptions = {}) =>
  runQm([command, '--workspace', workspace, ...args], { ...options, env: { ...asks, ...options.env } });

async function toolsOf(workspace: string): Promise<readonly string[]> {
  const { stdout } = await qm(workspace, ['tools', '--agent', 'bot', '--json']);
  return toolsSchema.parse(JSON.parse(stdout)).map(({ name }) => name);
}

async function trustStates(workspace: string): Promise<Readonly<Record<string, string>>> {
  const { stdout } = await qm(workspace, ['trust', '--show', '--json']);
  const { items } = trustSchema.parse(JSON.parse(stdout));
  return Object.fromEntries(items.map(({ name, state }) => [name ?? 'rules', state]));
}

async function statesOf(workspace: string): Promise<Readonly<Record<string, string>>> {
  const { stdout } = await qm(workspace, ['ls', '--json']);
  return Object.fromEntries(lsSchema.parse(JSON.parse(stdout)).servers.map(({ name, state }) => [name, state]));
}

const fileOf = (workspace: string): string => join(workspace, 'quartermaster.yaml');

/** As people do it: servers by command, which also approves that there are no rules. */
async function withAdded(...names: string[]): Promise<string> {
  const workspace = await makeWorkspace({ servers: {} });
  await writeFile(fileOf(workspace), 'version: 1\n');
  for (const name of names) {
    const args = [process.execPath, fixturePath('named-tools.mjs'), 'look', 'write'];
    expect((await qm(workspace, ['add', name, '--no-start', '--', ...args])).code).toBe(0);
  }
  return workspace;
}

test(
  verifies('trust:latest', 'rules that followed on qm add stay when somebody writes the file of before'),
  async () => {
    const workspace = await withAdded('files', 'deploy');
    const before = await readFile(fileOf(workspace), 'utf8');
    await writeFile(fileOf(workspace), `${before}agents:\n  bot: { servers: [files] }\n`);
    expect((await qm(workspace, ['trust', '--all'])).code).toBe(0);
    expect(await toolsOf(workspace)).toEqual(['files_look', 'files_write']);
    await writeFile(fileOf(workspace), before);
    expect(await toolsOf(workspace)).toEqual(['files_look', 'files_write']);
    expect(await trustStates(workspace)).toEqual({ files: 'approved', deploy: 'approved', rules: 'waiting' });
  },
);

test(verifies('trust:latest', 'what qm disable stopped stays so, whatever version was on disk'), async () => {
  const workspace = await withAdded('one', 'two');
  const before = await readFile(fileOf(workspace), 'utf8');
  // One is disabled as it was approved, the other while a change of it waits.
  expect((await qm(workspace, ['disable', 'one'])).code).toBe(0);
  const changed = (await readFile(fileOf(workspace), 'utf8')).replace(/\n {2}two:/, '\n  two:\n    tools: [look]');
  await writeFile(fileOf(workspace), changed);
  expect((await qm(workspace, ['disable', 'two'])).code).toBe(0);
  expect(await statesOf(workspace)).toEqual({ one: 'disabled', two: 'disabled' });
  await writeFile(fileOf(workspace), before);
  expect(await statesOf(workspace)).toEqual({ one: 'disabled', two: 'untrusted' });
  const { stdout } = await qm(workspace, ['ls', '--json']);
  const notices = lsSchema.parse(JSON.parse(stdout)).problems.map(({ message }) => message);
  expect(notices).toContain('Server "one" stays disabled, as it was approved. Its change waits for approval.');
  // What the operator enables counts again.
  expect((await qm(workspace, ['trust', 'one'])).code).toBe(0);
  expect(await statesOf(workspace)).toEqual({ one: 'idle', two: 'untrusted' });
});

test(verifies('trust:latest', 'a server that was removed is named, and can be taken back'), async () => {
  const workspace = await withAdded('one', 'two');
  const before = await readFile(fileOf(workspace), 'utf8');
  await configure(workspace, { servers: { one: named } });
  const shown = await qm(workspace, ['trust', '--show']);
  expect(shown.stderr).toContain('Approved, but not configured any more: two.');
  expect((await qm(workspace, ['trust', '--revoke', 'three'])).code).not.toBe(0);
  expect((await qm(workspace, ['trust', '--revoke', 'two'])).code).toBe(0);
  await writeFile(fileOf(workspace), before);
  expect((await statesOf(workspace)).two).toBe('untrusted');
});

test(verifies('trust:latest', '--revoke --earlier leaves only what is in force'), async () => {
  const workspace = await withAdded('one');
  expect((await qm(workspace, ['trust', '--earlier'])).code).toBe(2);
  expect((await qm(workspace, ['trust', '--revoke', '--earlier'])).code).toBe(0);
  expect(await trustStates(workspace)).toEqual({ one: 'approved', rules: 'approved' });
});

test(verifies('trust:openings', 'the first approval shows the rules that it covers'), async () => {
  const rules = { serve: { allowedHosts: ['hub.example'] }, policies: { tools: { 'up.write': 'deny' } } };
  const workspace = await makeWorkspace({ servers: { up: named }, ...rules });
  expect(await trustStates(workspace)).toEqual({ up: 'waiting', rules: 'waiting' });
  const asked = await qm(workspace, ['trust']);
  expect(asked.stderr).toContain('1 server and the rules of this workspace are waiting for your approval.');
  const { stderr } = await qm(workspace, ['trust', 'up']);
  expect(stderr).toContain('This is the first approval here, so it covers the rules of the workspace too:');
  expect(stderr).toContain('+ policy: up.write deny');
  expect(stderr).toContain('+ serve.allowedHosts: hub.example');
  expect(await trustStates(workspace)).toEqual({ up: 'approved', rules: 'approved' });
  expect(await toolsOf(workspace)).toEqual(['up_look']);
});
