import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createSilentLogger, createSystemClock, systemRandom } from '../../../src/base/index.ts';
import { type LoadedConfiguration, loadWithSources } from '../../../src/config/index.ts';
import type { TrustItem } from '../../../src/trust/index.ts';
import { openTrustChanges } from '../../../src/workspace-trust/index.ts';
import type { Stage } from '../../support/hub.ts';
import { stateEnv } from '../../support/state-home.ts';

export const deps = { clock: createSystemClock(), random: systemRandom, logger: createSilentLogger() };

/** Approves what is on disk now, as `qm trust` does. */
export async function approve(workspace: string, which: (item: TrustItem) => boolean = () => true): Promise<void> {
  const changes = await openTrustChanges(deps, { workspace, stateHome: stateEnv.QM_STATE_DIR });
  const loaded = await load(workspace);
  await changes.approve(loaded, changes.itemsOf(loaded).filter(which), 'command');
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
