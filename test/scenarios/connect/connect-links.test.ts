import { existsSync, readdirSync } from 'node:fs';
import { mkdir, readFile, rename, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { systemRandom } from '../../../src/base/index.ts';
import { readClientContext } from '../../../src/faces/cli/connect/client-context.ts';
import { createFileDrafts } from '../../../src/faces/cli/connect/file-drafts.ts';
import { writeFiles } from '../../../src/faces/cli/connect/write-files.ts';
import { verifies } from '../../support/verifies.ts';
import { eventually, within } from '../../support/within.ts';
import { runOnScreen } from '../screen.fixture.ts';
import { agent, echo, type Machine, makeMachine } from './machine.fixture.ts';

const refusal = 'is a link that leads out of the workspace; nothing was written';

async function open(): Promise<Machine> {
  const machine = await makeMachine();
  await machine.put('quartermaster.yaml', { servers: { up: echo } });
  await mkdir(machine.path('~/elsewhere'));
  return machine;
}

test(verifies('connect:refuse', 'a link that appears while the command asks is not followed'), async () => {
  const machine = await open();
  const args = ['connect', 'cursor', '--agent', agent, '--no-wait', '--no-start', '--scope', 'project'];
  const screen = runOnScreen(args, { workspace: machine.workspace, columns: 160, env: machine.env });
  await eventually(() => screen.stderr().includes('Write this? [Y/n]') || undefined, 'the question');
  await symlink(machine.path('~/elsewhere'), machine.path('.cursor'));
  screen.type('\r');
  expect(await within(screen.ended, 'the command to end')).toBe(3);
  expect(screen.stderr()).toContain(refusal);
  expect(readdirSync(machine.path('~/elsewhere'))).toEqual([]);
  const again = await machine.disconnect('cursor');
  expect(again.stdout).toContain('is not connected');
});

/** Swaps a folder for a link between the first look at the files and their change. */
async function writeAmidSwap(machine: Machine, after: string): Promise<unknown> {
  const at = await readClientContext({ env: machine.env }, machine.workspace);
  const path = machine.path('.cursor/mcp.json');
  const draft = await createFileDrafts({ random: systemRandom }, at, undefined).open(path, 'jsonc');
  const backUp = async (): Promise<string> => {
    await rename(machine.path('.cursor'), machine.path('.cursor-away'));
    await symlink(machine.path('~/elsewhere'), machine.path('.cursor'));
    return 'none';
  };
  const change = { ...draft, existed: after !== '', steps: { ...draft.steps, after } };
  return writeFiles({ random: systemRandom, store: { backUp } }, at, [change]).catch((error: unknown) => error);
}

test.each(['{ "mcpServers": {} }\n', ''])(
  verifies('connect:refuse', 'a folder that becomes a link while files are written is not followed: %j'),
  async (after) => {
    const machine = await open();
    const text = '{ "a": 1 }\n';
    await machine.put('.cursor/mcp.json', text);
    const other = join(machine.path('~/elsewhere'), 'mcp.json');
    await writeFile(other, text);
    const outcome = await writeAmidSwap(machine, after);
    expect(outcome).toMatchObject({ code: 'CONFIG_INVALID', message: expect.stringContaining(refusal) });
    expect(existsSync(other) && (await readFile(other, 'utf8'))).toBe(text);
    expect(readdirSync(machine.path('~/elsewhere'))).toEqual(['mcp.json']);
  },
);
