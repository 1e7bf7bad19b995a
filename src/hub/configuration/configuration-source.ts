import type { Clock, Logger, RandomBytes } from '../../base/index.ts';
import { type SecretValues, watchConfig } from '../../config/index.ts';
import type { Configuration, Problem } from '../../domain/index.ts';
import { protectedPlaces } from '../../storage/index.ts';
import type { PendingItem } from '../../trust/index.ts';
import { loadTrusted, type TrustMode, trustFiles } from '../../workspace-trust/index.ts';
import type { EmitEvent } from '../events/event-emitter.ts';
import { refuseConfiguration } from './config-mistakes.ts';
import { LiveConfiguration } from './live-configuration.ts';

/** The active configuration and its changes. */
export interface ConfigurationSource {
  readonly configuration: Configuration;
  /** Why the active configuration differs from the files. Empty if it does not. */
  notices(): readonly Problem[];
  /**
   * Applies the files on disk at once, including missing files and lost restrictions. With `files`,
   * only changes of these. Rejects and keeps the old configuration if a file is invalid.
   */
  reload(files?: readonly string[]): Promise<void>;
  /** Approvals of these servers that were given before now do not count any more while the process runs. Undefined: all. */
  withhold(servers: readonly string[] | undefined): Promise<void>;
  /** Items that nobody approved. */
  readonly pending: readonly PendingItem[];
  onReload(listener: (configuration: Configuration) => void): () => void;
  close(): void;
}

export interface ConfigurationDeps {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly emit: EmitEvent;
  readonly userEnv?: ConfigurationDeps['env'] | undefined;
  readonly secrets: SecretValues;
  readonly random: RandomBytes;
}

export interface ConfigurationOptions {
  readonly workspace: string;
  readonly stateHome: string;
  readonly watch: boolean;
  readonly trust: TrustMode;
  readonly agentFolder?: string | undefined;
}

export async function openConfigurationSource(
  deps: ConfigurationDeps,
  options: ConfigurationOptions,
): Promise<ConfigurationSource> {
  const { logger, clock, env, userEnv = env, emit, secrets, random } = deps;
  const { workspace, stateHome, agentFolder } = options;
  const loading = { env, secrets, protectedPlaces: protectedPlaces(env, stateHome), agentFolder };
  const outside = [secrets.file, ...(await trustFiles(workspace, stateHome))];
  let live: LiveConfiguration | undefined;
  let early = false;
  // Watch before the first read, so that no change is missed.
  const watch = options.watch
    ? watchConfig(
        { logger, clock },
        {
          workspace,
          named: () => live?.namedFiles ?? [],
          outside,
          onFilesChange() {
            if (live === undefined) early = true;
            else live.follow();
          },
        },
      )
    : undefined;
  try {
    const { load, disk, trust, files } = await loadTrusted(
      { clock, random, env: userEnv, loading },
      { workspace, stateHome, mode: options.trust },
    );
    // Invalid rules must not allow everything.
    refuseConfiguration(files.loaded.configuration.problems.filter(({ fatal }) => fatal));
    const first = { disk, files, judged: await trust.judge(files.loaded) };
    live = new LiveConfiguration({ clock, logger, emit, load, trust, watch }, first);
  } catch (error) {
    watch?.close();
    throw error;
  }
  if (early) live.follow();
  return live;
}
