import { type Clock, HubError, type Logger, toHubError } from '../base/index.ts';
import { loadFleet, watchConfig } from '../config/index.ts';
import { type Fleet, placeOf } from '../domain/index.ts';

/** What is configured now, and what happens when somebody changes it. */
export interface Configuration {
  readonly fleet: Fleet;
  /** Rejects, and leaves the old fleet in force, when the new one cannot be trusted. */
  reload(): Promise<void>;
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
  const listeners = new Set<(fleet: Fleet) => void>();
  let closed = false;
  let last: Promise<void> = Promise.resolve();
  // Watching begins before the first reading, so that no change falls between the two.
  const watch = options.watch ? watchConfig({ logger, clock }, { workspace, onChange: reloadQuietly }) : undefined;
  let fleet = await loadFleet({ env }, { workspace });
  try {
    refuseBroken(fleet);
  } catch (error) {
    watch?.close();
    throw error;
  }

  async function takeUp(): Promise<void> {
    const next = await loadFleet({ env }, { workspace });
    try {
      refuseBroken(next);
    } catch (error) {
      logger.error('reload_refused', { error: toHubError(error).message });
      throw error;
    }
    if (closed) return;
    fleet = next;
    for (const listener of listeners) listener(next);
    logger.info('reloaded', { servers: next.servers.size, problems: next.problems.length });
  }

  /** One after the other: of two changes the later one must win. */
  function reload(): Promise<void> {
    last = last.then(takeUp, takeUp);
    return last;
  }

  function reloadQuietly(): void {
    // A refusal is in the log.
    reload().catch(() => {});
  }

  return {
    get fleet() {
      return fleet;
    },
    reload,
    onReload(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    close() {
      closed = true;
      watch?.close();
    },
  };
}

/** A file that cannot be read, or rules that cannot be understood, must not mean "everything goes". */
function refuseBroken(fleet: Fleet): void {
  const fatal = fleet.problems.filter((problem) => problem.severity === 'error' && problem.server === undefined);
  const first = fatal[0];
  if (first === undefined) return;
  const more = fatal.length > 1 ? ` (and ${fatal.length - 1} more)` : '';
  throw new HubError('CONFIG_INVALID', `${placeOf(first)}: ${first.message}${more}`, {
    ...(first.fix === undefined ? {} : { hint: first.fix }),
    details: { problems: fatal },
  });
}
