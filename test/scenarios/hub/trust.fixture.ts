import { execFileSync } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createSilentLogger, createSystemClock, systemRandom } from '../../../src/base/index.ts';
import { type LoadedConfiguration, loadWithSources } from '../../../src/config/index.ts';
import type { Judgement, TrustItem } from '../../../src/trust/index.ts';
import { loadTrusted, openTrustChanges, type TrustChanges } from '../../../src/workspace-trust/index.ts';
import type { Stage } from '../../support/hub.ts';
import { stateEnv } from '../../support/state-home.ts';

export const deps = { clock: createSystemClock(), random: systemRandom, logger: createSilentLogger() };

/** Approves what is on disk now, as `qm trust` does. */
export async function approve(workspace: string, which: (item: TrustItem) => boolean = () => true): Promise<void> {
  const changes = await changesOf(workspace);
  const loaded = await load(workspace);
  await changes.approve(loaded, changes.itemsOf(loaded).filter(which), 'command');
}

export function changesOf(workspace: string): Promise<TrustChanges> {
  return openTrustChanges(deps, { workspace, stateHome: stateEnv.QM_STATE_DIR });
}

/** What a hub that starts now would make of the files. */
export async function judge(workspace: string, env: Readonly<Record<string, string>> = {}): Promise<Judgement> {
  const { disk, trust } = await loadTrusted(
    { ...deps, env, loading: { env: {} } },
    { workspace, stateHome: stateEnv.QM_STATE_DIR, mode: 'stored' },
  );
  return trust.judge(disk);
}

export const statesOf = ({ configuration }: Judgement): readonly string[] =>
  [...configuration.servers.values()].map(({ kind }) => kind);

export const waits = ({ pending }: Judgement): readonly string[] =>
  pending.map(({ item }) => (item.kind === 'server' ? item.name : item.kind));

/** Runs git in a folder, without the settings of whoever runs the tests. */
export function gitIn(folder: string): (...args: string[]) => string {
  return (...args) =>
    execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.com', ...args], {
      cwd: folder,
      encoding: 'utf8',
      env: { PATH: process.env.PATH, HOME: folder, GIT_CONFIG_NOSYSTEM: '1' },
    });
}

export function load(workspace: string, env: Readonly<Record<string, string>> = {}): Promise<LoadedConfiguration> {
  return loadWithSources({ env }, { workspace });
}

export const isServer =
  (name: string) =>
  (item: TrustItem): boolean =>
    item.kind === 'server' && item.name === name;

export async function put(stage: Stage, file: string, text: string): Promise<void> {
  await mkdir(join(stage.path(file), '..'), { recursive: true });
  await writeFile(stage.path(file), text);
}

export const pendingOf = (stage: Stage): readonly string[] =>
  stage.hub.pending().map(({ item, change }) => `${change} ${item.kind === 'server' ? item.name : 'policy'}`);

export const stored = { trust: 'stored', watch: true } as const;
