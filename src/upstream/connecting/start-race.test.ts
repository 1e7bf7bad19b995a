import { existsSync, writeFileSync } from 'node:fs';
import { mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { fixturePath } from '../../../test/support/fixture-servers.ts';
import { verifies } from '../../../test/support/verifies.ts';
import { programFiles } from '../../base/index.ts';
import { probeServer } from '../probe.ts';
import { freePrograms, lookDeps, lookOptions, nodeServer, specOf } from '../spec.fixture.ts';

/** A server of the workspace, and one in its place that leaves a trace when it runs. */
async function makeScene() {
  const workspace = await realpath(await mkdtemp(join(tmpdir(), 'qm-race-')));
  onTestFinished(() => rm(workspace, { recursive: true, force: true }));
  const [script, trace] = [join(workspace, 'server.mjs'), join(workspace, 'trace.log')];
  const approved = `import ${JSON.stringify(pathToFileURL(fixturePath('echo-stdio.mjs')).href)};\n`;
  await writeFile(script, approved);
  const other = `import { writeFileSync } from 'node:fs';\nwriteFileSync(${JSON.stringify(trace)}, '');\n${approved}`;
  const program = { ...nodeServer('./server.mjs'), cwd: workspace };
  const files = await programFiles(program, workspace);
  const spec = specOf({ ...program, approvedFiles: { workspace, files } });
  return { script, trace, other, spec };
}

/** Replaces the script when the hub looks at the program for the nth time. */
async function probeWith(scene: Awaited<ReturnType<typeof makeScene>>, nth: number) {
  let looks = 0;
  const checkReach = (): void => {
    if (++looks === nth) writeFileSync(scene.script, scene.other);
  };
  const deps = lookDeps();
  const probe = await probeServer({ ...deps, programs: { ...freePrograms, checkReach } }, lookOptions(scene.spec));
  return { looks, probe, running: deps.children.running, error: probe.attempts[0]?.error };
}

test('a program is looked at before it starts, before it runs, and after the handshake', async () => {
  const { looks, probe } = await probeWith(await makeScene(), 0);
  expect(probe.verdict).toBe('reachable');
  expect(looks).toBe(3);
});

test(verifies('trust:start-race', 'a script that is replaced while its process starts does not run'), async () => {
  const scene = await makeScene();
  const { looks, error, running } = await probeWith(scene, 2);
  expect(error).toMatchObject({ code: 'NOT_TRUSTED', details: { file: 'server.mjs' } });
  expect(existsSync(scene.trace)).toBe(false);
  expect([looks, running]).toEqual([2, 0]);
});

test(verifies('trust:start-race', 'a server whose script was replaced during the handshake is ended'), async () => {
  const { looks, error, running } = await probeWith(await makeScene(), 3);
  expect(error).toMatchObject({ code: 'NOT_TRUSTED' });
  expect([looks, running]).toEqual([3, 0]);
});
