import { spawnSync } from 'node:child_process';
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';

const root = resolve(import.meta.dirname, '..');

test('without a build, qm says in one line what to do', async () => {
  const folder = await installBin();
  expect(runQm(folder)).toEqual({
    status: 1,
    stdout: '',
    stderr: 'qm: not built yet; run `npm run build` in the Quartermaster folder first.\n',
  });
});

test('on an old Node, qm says which one it needs', async () => {
  const folder = await installBin({ main: `export async function main() { return 0; }` });
  const pretendOld = 'data:text/javascript,Object.defineProperty(process,"versions",{value:{node:"20.18.3"}})';
  expect(runQm(folder, [], ['--import', pretendOld])).toEqual({
    status: 1,
    stdout: '',
    stderr: 'qm: Node 20.18.3 is too old; Quartermaster needs Node 20.19 or newer.\n',
  });
});

test('qm hands its arguments on and exits with what the command line returns, also through a link', async () => {
  const main = `export async function main(args) { console.log(args.join('|')); return 5; }`;
  const folder = await installBin({ main });
  await symlink(join(folder, 'bin/qm'), join(folder, 'link'));
  const expected = { status: 5, stdout: 'call|a b\n', stderr: '' };
  expect(runQm(folder, ['call', 'a b'])).toEqual(expected);
  expect(runQm(folder, ['call', 'a b'], [], 'link')).toEqual(expected);
});

test('a defect inside the build is not mistaken for a missing build', async () => {
  const folder = await installBin({ main: `import './missing.js'; export async function main() { return 0; }` });
  const run = runQm(folder);
  expect(run.status).toBe(1);
  expect(run.stderr).toContain('missing.js');
  expect(run.stderr).not.toContain('npm run build');
});

async function installBin({ main }: { main?: string } = {}): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'qm-bin-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  await mkdir(join(folder, 'bin'));
  await cp(join(root, 'bin/qm'), join(folder, 'bin/qm'));
  await writeFile(join(folder, 'package.json'), '{"type":"module"}');
  if (main !== undefined) {
    const file = join(folder, 'dist/qm/main.js');
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, main);
  }
  return folder;
}

function runQm(folder: string, args: readonly string[] = [], nodeArgs: readonly string[] = [], file = 'bin/qm') {
  const run = spawnSync(process.execPath, [...nodeArgs, join(folder, file), ...args], {
    encoding: 'utf8',
    timeout: 60_000,
  });
  return { status: run.status, stdout: run.stdout, stderr: run.stderr };
}
