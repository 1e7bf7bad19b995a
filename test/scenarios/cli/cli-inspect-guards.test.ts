import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { fixturePath } from '../../support/fixture-servers.ts';
import { verifies } from '../../support/verifies.ts';
import type { QmResult } from '../qm.fixture.ts';
import { runHere } from '../run-here.fixture.ts';

interface Scene {
  readonly workspace: string;
  /** Outside the workspace. */
  readonly bin: string;
  readonly mark: string;
  inspect(path: readonly string[], ...words: string[]): Promise<QmResult>;
}

/** A workspace without configuration, and a folder for programs beside it. */
async function makeScene(): Promise<Scene> {
  const place = await realpath(await mkdtemp(join(tmpdir(), 'qm-guards-')));
  onTestFinished(() => rm(place, { recursive: true, force: true, maxRetries: 3 }));
  const [workspace, bin, mark] = [join(place, 'team'), join(place, 'bin'), join(place, 'mark')];
  await Promise.all([mkdir(workspace), mkdir(bin)]);
  return {
    workspace,
    bin,
    mark,
    inspect: (path, ...words) => {
      const env = { PATH: [...path, process.env.PATH ?? ''].join(delimiter), HOME: place };
      return runHere(['inspect', '--timeout', '30', '--', ...words], { cwd: workspace, env });
    },
  };
}

/** Says where and how it is started, then ends. */
async function putProgram({ mark }: Scene, path: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, `#!/bin/sh\necho "$PWD $*" >> '${mark}'\nexit 1\n`);
  await chmod(path, 0o755);
}

/** What decides that npx would run a program of the workspace. */
async function putPackage({ workspace }: Scene): Promise<void> {
  const folder = join(workspace, 'node_modules/some-server');
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'package.json'), '{"name":"some-server","version":"1.0.0","bin":"x.js"}');
  await writeFile(join(workspace, 'package.json'), '{"dependencies":{"some-server":"*"}}');
}

test.each([false, true])(
  verifies('trust:guarded', 'npx that is only inspected takes nothing from the workspace; a package there: %s'),
  async (hasPackage) => {
    const scene = await makeScene();
    await putProgram(scene, join(scene.bin, 'npx'));
    if (hasPackage) await putPackage(scene);
    const { code, stderr } = await scene.inspect([scene.bin], 'npx', '-y', 'some-server');
    expect(code).not.toBe(0);
    expect(await readFile(scene.mark, 'utf8')).toMatch(/^\/ --prefix=\/ --script-shell=\S+ -y some-server\n/);
    expect(stderr.includes('Code and settings of the workspace that this command would take are ignored.')).toBe(
      hasPackage,
    );
  },
);

test(verifies('trust:guarded', 'a program that is only inspected is not looked up in the workspace'), async () => {
  const scene = await makeScene();
  const folder = join(scene.workspace, 'node_modules/.bin');
  await putProgram(scene, join(folder, 'some-server'));
  const { code, stderr } = await scene.inspect([folder], 'some-server');
  expect(code).not.toBe(0);
  expect(stderr).toContain(`Not searched for programs: ${folder}.`);
  expect(existsSync(scene.mark)).toBe(false);
});

test(verifies('inspect:given', 'a program that is code of the workspace runs, and that is said'), async () => {
  const scene = await makeScene();
  await writeFile(
    join(scene.workspace, 'server.mjs'),
    `await import(${JSON.stringify(fixturePath('echo-stdio.mjs'))});\n`,
  );
  const { code, stderr } = await scene.inspect([], process.execPath, 'server.mjs');
  expect(code).toBe(0);
  expect(stderr).toContain('This command runs code of the workspace, which agents with file tools can change.');
  const elsewhere = await scene.inspect([], process.execPath, fixturePath('echo-stdio.mjs'));
  expect(elsewhere).toMatchObject({ code: 0, stderr: expect.not.stringContaining('This command runs code') });
});
