import { mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { fixturePath } from '../../../test/support/fixture-servers.ts';
import { type CreateHubOptions, createHub, type Hub } from '../../index.ts';
import { pidsOfHub } from '../../upstream/children/fixtures/processes.mjs';

/** A workspace with this configuration, removed after the test. */
export async function openWorkspace(config: object): Promise<string> {
  const workspace = await realpath(await mkdtemp(join(tmpdir(), 'qm-library-')));
  onTestFinished(() => rm(workspace, { recursive: true, force: true, maxRetries: 3 }));
  await writeFile(join(workspace, 'quartermaster.yaml'), JSON.stringify(config));
  return workspace;
}

/**
 * The library's hub in a workspace with this configuration. The test's end closes it, stops its servers and removes
 * the workspace.
 */
export async function openLibraryHub(config: object, options: Omit<CreateHubOptions, 'workspace'> = {}): Promise<Hub> {
  const workspace = await openWorkspace(config);
  const hub = await createHub({ workspace, env: { PATH: process.env.PATH, WORD: 'from-env' }, ...options });
  onTestFinished(async () => {
    await hub.close();
    expect(pidsOfHub(process.pid), 'servers left').toEqual([]);
  });
  return hub;
}

export const echo = { command: process.execPath, args: [fixturePath('echo-stdio.mjs')] };
export const broken = { command: process.execPath, args: [fixturePath('bad.mjs'), 'exits-at-start'] };
