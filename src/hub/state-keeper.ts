import { type Clock, type GuardedFolder, HubError, type Logger, type RandomBytes, toHubError } from '../base/index.ts';
import { ensureStateFolder, openStateFolder, type WorkspaceLayout } from '../storage/index.ts';

/** Knows whether the state folder is still the one that this hub started with. */
export interface StateKeeper {
  /** False: it was deleted, moved or replaced. */
  isIntact(): boolean;
  /** Creates it again if it is gone. Its users then write their files again. */
  restore(): Promise<void>;
  onRestored(putBack: () => Promise<void>): void;
  close(): void;
}

export interface StateKeeperDeps {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly random: RandomBytes;
}

export async function openStateKeeper(deps: StateKeeperDeps, layout: WorkspaceLayout): Promise<StateKeeper> {
  const { logger } = deps;
  const listeners: (() => Promise<void>)[] = [];
  await ensureStateFolder(layout, deps);
  let folder = openFolder(layout);

  async function restore(): Promise<void> {
    if (folder.isInPlace()) {
      await ensureStateFolder(layout, deps);
      return;
    }
    await ensureStateFolder(layout, deps);
    const next = openFolder(layout);
    folder.close();
    folder = next;
    logger.warn('state.restored', { folder: layout.folder });
    for (const putBack of listeners) {
      await putBack().catch((error: unknown) => {
        logger.error('state.not-restored', { folder: layout.folder, error: toHubError(error).message });
      });
    }
  }

  return {
    isIntact: () => folder.isInPlace(),
    restore,
    onRestored: (putBack) => void listeners.push(putBack),
    close: () => folder.close(),
  };
}

function openFolder(layout: WorkspaceLayout): GuardedFolder {
  const folder = openStateFolder(layout);
  if (folder !== undefined) return folder;
  throw new HubError('CONFIG_INVALID', `The state folder ${layout.folder} disappears as soon as it is made.`, {
    hint: 'Find out what deletes it.',
  });
}
