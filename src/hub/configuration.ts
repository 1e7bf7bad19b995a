import { type Clock, HubError, type Logger, toHubError } from '../base/index.ts';
import { loadFleet, watchConfig } from '../config/index.ts';
import { type Fleet, type Problem, placeOf } from '../domain/index.ts';

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
    refuseUntrusted(fleet);
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

/** Rules that cannot be understood must not mean "everything goes". */
function refuseUntrusted(fleet: Fleet): void {
  refuse(fleet.problems.filter((problem) => problem.fatal));
}

/** While the hub runs, a file that cannot be read is one that somebody is writing: what was in it stays in force. */
function refuseBroken(fleet: Fleet): void {
  refuse(fleet.problems.filter(({ severity, server }) => severity === 'error' && server === undefined));
}

function refuse(problems: readonly Problem[]): void {
  const [first] = problems;
  if (first === undefined) return;
  const more = problems.length > 1 ? ` (and ${problems.length - 1} more)` : '';
  throw new HubError('CONFIG_INVALID', `${placeOf(first)}: ${first.message}${more}`, {
    ...(first.fix === undefined ? {} : { hint: first.fix }),
    details: { problems },
  });
}
