import type { Clock, Logger } from '../base/index.ts';
import { loadConfiguration, type SourceText, watchConfig } from '../config/index.ts';
import type { Fleet, Problem } from '../domain/index.ts';
import { refuse } from './config-mistakes.ts';
import { LiveConfiguration, type Load } from './live-configuration.ts';

/** What is configured now, and what happens when somebody changes it. */
export interface Configuration {
  readonly fleet: Fleet;
  /** Why what is in force is not what is on disk; empty where it is. */
  notices(): readonly Problem[];
  /**
   * The operator's act: what is on disk takes effect at once, missing files and lost restrictions included. With `files`,
   * only changes of these do. Rejects, and leaves the old fleet in force, when a file cannot be understood.
   */
  reload(files?: readonly string[]): Promise<void>;
  onReload(listener: (fleet: Fleet) => void): () => void;
  close(): void;
}

export interface ConfigurationDeps {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly env: Readonly<Record<string, string | undefined>>;
}

export async function openConfiguration(
  deps: ConfigurationDeps,
  options: { readonly workspace: string; readonly watch: boolean },
): Promise<Configuration> {
  const { logger, clock, env } = deps;
  const { workspace } = options;
  const load: Load = (instead?: ReadonlyMap<string, SourceText>) =>
    loadConfiguration({ env }, { workspace, ...(instead === undefined ? {} : { instead }) });
  let live: LiveConfiguration | undefined;
  let early = false;
  // Watching begins before the first reading, so that no change falls between the two.
  const watch = options.watch
    ? watchConfig(
        { logger, clock },
        {
          workspace,
          named: () => live?.namedFiles ?? [],
          onChange() {
            if (live === undefined) early = true;
            else live.follow();
          },
        },
      )
    : undefined;
  try {
    const first = await load();
    // Rules that cannot be understood must not mean "everything goes".
    refuse(first.fleet.problems.filter(({ fatal }) => fatal));
    live = new LiveConfiguration({ clock, logger, load, watch }, first);
  } catch (error) {
    watch?.close();
    throw error;
  }
  if (early) live.follow();
  return live;
}
