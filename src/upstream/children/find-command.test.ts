import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { explainError, HubError } from '../../base/index.ts';
import { findCommand } from './find-command.ts';

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'qm-find-'));
  await mkdir(join(folder, 'first/tool'), { recursive: true });
  await mkdir(join(folder, 'second'));
  await writeFile(join(folder, 'second/tool'), '');
  await chmod(join(folder, 'second/tool'), 0o755);
  await writeFile(join(folder, 'second/plain'), '');
});

afterAll(() => rm(folder, { recursive: true }));

test('the first executable file on PATH wins, past folders of that name', async () => {
  const path = `${join(folder, 'nowhere')}:${join(folder, 'first')}:${join(folder, 'second')}`;
  expect(await find('tool', path)).toBe(join(folder, 'second/tool'));
});

test('paths are relative to the working folder, on PATH too', async () => {
  expect(await find('./second/tool', '/usr/bin')).toBe(join(folder, 'second/tool'));
  expect(await find('tool', 'second')).toBe(join(folder, 'second/tool'));
});

test.each([
  {
    command: 'no-such-tool',
    says: ['"no-such-tool"', 'not found on PATH', 'Install no-such-tool', '/usr/bin/nowhere'],
  },
  { command: 'uvx-', says: ['Install uvx-,'] },
  { command: 'uvx', says: ['"uvx"', 'Install uv (', 'which brings uvx', 'full path', 'PATH'] },
  { command: 'npx', says: ['Install Node.js'] },
  { command: 'docker', says: ['Install Docker', 'and start it'] },
  { command: 'python', says: ['Install Python 3', 'python3'] },
  { command: './no-such-tool', says: ['"./no-such-tool"', 'does not exist', 'Correct its command'] },
  { command: 'second/plain', says: ['second/plain', 'not an executable file', 'chmod +x'] },
  { command: 'npx -y thing', says: ['"npx -y thing"', 'as its args'] },
  { command: '', says: ['""', 'not found'] },
])('says what is wrong and what to do: $command', async ({ command, says }) => {
  const error = await find(command, '/usr/bin/nowhere').catch((caught: unknown) => caught);
  if (!(error instanceof HubError)) throw new Error('expected a HubError');
  expect(error.code).toBe('UPSTREAM_UNAVAILABLE');
  expect(error.details).toEqual({ server: 'files', command, reason: expect.stringMatching(/^command not/) });
  for (const part of ['"files"', ...says]) expect(explainError(error)).toContain(part);
});

test.each(['nowhere', 'second/plain'])('a working folder that is none: %s', async (cwd) => {
  const wanted = { server: 'files', command: 'sh', cwd: join(folder, cwd) };
  await expect(findCommand(wanted, '/usr/bin')).rejects.toMatchObject({
    code: 'UPSTREAM_UNAVAILABLE',
    message: expect.stringContaining(wanted.cwd),
    hint: expect.stringContaining('cwd'),
  });
});

function find(command: string, path: string): Promise<string> {
  return findCommand({ server: 'files', command, cwd: folder }, path);
}
