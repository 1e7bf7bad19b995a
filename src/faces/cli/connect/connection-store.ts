import type { ConnectionStore } from '../../../clients/index.ts';
import { createFileConnectionStore, ensureStateFolder, ensureStateKey } from '../../../storage/index.ts';
import { createTextSeal } from '../../../vault/index.ts';
import type { CliContext } from '../context.ts';
import { stateLayout } from '../hub/state-layout.ts';

/** The connections of the workspace. */
export async function openConnections(
  { env, clock, random }: Pick<CliContext, 'env' | 'clock' | 'random'>,
  workspace: string,
): Promise<ConnectionStore> {
  const layout = stateLayout({ env }, workspace);
  await ensureStateFolder(layout, { clock, random });
  const seal = createTextSeal({ random }, await ensureStateKey(layout, random), 'connections');
  return createFileConnectionStore(layout, { clock, random, seal });
}
