import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import type { DoctorServer } from '../../../src/faces/cli/doctor/diagnosis-shapes.ts';
import { doctorSchema } from '../../../src/faces/cli/json-shapes.ts';
import { type Preset, presets } from '../../../src/workspace-files/index.ts';
import { presetText } from '../../../src/workspace-files/presets/preset-file.ts';
import { fixturePath } from '../../support/fixture-servers.ts';
import { makeWorkspace, type QmResult } from '../qm.fixture.ts';

export function presetOf(id: string): Preset {
  const found = presets.find((each) => each.id === id);
  if (found === undefined) throw new Error(`no preset ${id}`);
  return found;
}

/** A workspace with files as bootstrap writes them, but for the text that `change` makes of them. */
export async function workspaceWith(
  ids: readonly string[],
  change: (text: string, id: string) => string = (text) => text,
): Promise<string> {
  const workspace = await makeWorkspace();
  for (const id of ids) {
    const file = join(workspace, 'ops/adk/servers', `${id}.yaml`);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, change(presetText(presetOf(id)), id));
  }
  return workspace;
}

/** What the doctor found out, and its exit code; nothing of the environment may be in it. */
export function diagnosisOf(
  { code, stdout, stderr }: QmResult,
  env: Readonly<Record<string, string>>,
): { readonly code: number | null; readonly row: (name: string) => DoctorServer } {
  expect(stderr).toBe('');
  const secrets = Object.entries(env).filter(([name]) => /KEY|TOKEN|PAT$|PG_RO_URL|CONNECTION/.test(name));
  for (const [, secret] of secrets) expect(stdout).not.toContain(secret);
  const { servers } = doctorSchema.parse(JSON.parse(stdout));
  const row = (name: string): DoctorServer => {
    const found = servers.find((server) => server.name === name);
    if (found === undefined) throw new Error(`no word of ${name}`);
    return found;
  };
  return { code, row };
}

/** A PATH on which npx and uvx know the packages of the gallery and no others. */
export async function pathWithRunners(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'qm-runners-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  for (const name of ['npx', 'uvx']) {
    const file = join(folder, name);
    await writeFile(
      file,
      `#!/bin/sh\nexec '${process.execPath}' '${fixturePath('package-runner.mjs')}' ${name} "$@"\n`,
    );
    await chmod(file, 0o755);
  }
  return `${folder}:/usr/local/bin:/usr/bin:/bin`;
}
