import { type FSWatcher, type StatsListener, statSync, unwatchFile, watch, watchFile } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Clock, Logger, Timer } from '../base/index.ts';
import { configFileNames } from './load-fleet.ts';

export interface ConfigWatch {
  close(): void;
}

export interface WatchConfigOptions {
  readonly workspace: string;
  readonly onChange: () => void;
}

/**
 * Calls back once things are quiet after a configuration file was written, replaced, made or removed.
 * Start it before loading, so that nothing falls in between. It does not keep the process alive.
 *
 * The directory is watched rather than the files: editors replace a file, and a watch on it would stay with the old one.
 * A slow poll stands behind it for network disks, containers and a directory that was itself replaced.
 */
export function watchConfig(
  deps: { readonly logger: Logger; readonly clock: Clock },
  options: WatchConfigOptions,
): ConfigWatch {
  const workspace = resolve(options.workspace);
  const files = configFileNames.map((name) => join(workspace, name));
  let reported = signatures(files);
  let pending: Timer | undefined;
  let closed = false;

  const watcher = watchDirectory(deps.logger, workspace, (name) => {
    if (name === null ? signatures(files) !== reported : configFileNames.includes(name)) changed();
  });
  const poll: StatsListener = () => {
    // Both see the same change; whoever comes second finds it reported. Reading alone moves the access time.
    if (signatures(files) !== reported) changed();
  };
  for (const file of files) watchFile(file, { persistent: false, interval: pollMs }, poll);

  return {
    close() {
      closed = true;
      pending?.cancel();
      watcher?.close();
      for (const file of files) unwatchFile(file, poll);
    },
  };

  function changed(): void {
    if (closed) return;
    pending?.cancel();
    pending = deps.clock.setTimer(quietMs, () => {
      pending = undefined;
      reported = signatures(files);
      options.onChange();
    });
  }
}

const quietMs = 100;
const pollMs = 2_000;

function watchDirectory(
  logger: Logger,
  directory: string,
  onEvent: (name: string | null) => void,
): FSWatcher | undefined {
  const unavailable = (error: unknown): void => {
    logger.warn('config.watch-unavailable', { directory, error: String(error), poll_ms: pollMs });
  };
  try {
    const watcher = watch(directory, { persistent: false }, (_event, name) => onEvent(name));
    watcher.on('error', (error) => {
      watcher.close();
      unavailable(error);
    });
    return watcher;
  } catch (error) {
    unavailable(error);
    return undefined;
  }
}

/** Changes when any of the files does; permissions count, since a file may become readable. */
function signatures(files: readonly string[]): string {
  return files.map(signature).join('|');
}

function signature(file: string): string {
  try {
    const { dev, ino, size, mtimeNs, ctimeNs } = statSync(file, { bigint: true });
    return [dev, ino, size, mtimeNs, ctimeNs].join(',');
  } catch {
    return 'absent';
  }
}
