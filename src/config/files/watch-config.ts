import { existsSync, type FSWatcher, unwatchFile, watch, watchFile } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { Clock, Logger, Timer } from '../../base/index.ts';
import { signatures, watchedPaths } from './watched-paths.ts';

export interface ConfigWatch {
  /** Call this when the files that other files refer to may have changed. */
  refresh(): void;
  close(): void;
}

interface WatchConfigDeps {
  readonly logger: Logger;
  readonly clock: Clock;
}

export interface WatchConfigOptions {
  readonly workspace: string;
  readonly onFilesChange: () => void;
  /** Further files, by path in the workspace. */
  readonly named?: () => readonly string[];
  /** Further files outside the workspace, by absolute path. */
  readonly outside?: readonly string[];
}

/**
 * Calls back, after a quiet period, when a configuration file was written, replaced, created or removed. Start it
 * before loading, so that no change is missed. It does not keep the process alive.
 *
 * It watches directories instead of files: editors replace a file, and a watch would stay with the old one. A slow poll
 * covers network disks, containers and directories that were replaced themselves.
 */
export function watchConfig(deps: WatchConfigDeps, options: WatchConfigOptions): ConfigWatch {
  return new WorkspaceWatch(deps, options);
}

const quietMs = 100;
const pollMs = 2_000;

class WorkspaceWatch implements ConfigWatch {
  readonly #deps: WatchConfigDeps;
  readonly #options: WatchConfigOptions;
  readonly #workspace: string;
  readonly #directories = new Map<string, FSWatcher | undefined>();
  #polled: readonly string[] = [];
  /** The state of the files at the last report. */
  #reported: string;
  #pending: Timer | undefined;
  #closed = false;

  constructor(deps: WatchConfigDeps, options: WatchConfigOptions) {
    this.#deps = deps;
    this.#options = options;
    this.#workspace = resolve(options.workspace);
    this.#reported = signatures(this.#paths());
    this.#follow();
  }

  refresh(): void {
    if (!this.#closed) this.#follow();
  }

  close(): void {
    this.#closed = true;
    this.#pending?.cancel();
    for (const watcher of this.#directories.values()) watcher?.close();
    for (const path of this.#polled) unwatchFile(path, this.#look);
  }

  #paths(): readonly string[] {
    const { named, outside = [] } = this.#options;
    const inside = (named?.() ?? []).map((file) => join(this.#workspace, file));
    return [...new Set([...watchedPaths(this.#workspace), ...inside, ...outside])];
  }

  /**
   * Watch and poll report the same change, so it compares with the last reported state. Reading a file only moves its
   * access time. A property, because `unwatchFile` needs the same function as `watchFile`.
   */
  readonly #look = (): void => {
    if (!this.#closed && signatures(this.#paths()) !== this.#reported) this.#reportLater();
  };

  #reportLater(): void {
    this.#pending?.cancel();
    this.#pending = this.#deps.clock.setTimer(quietMs, () => {
      this.#pending = undefined;
      this.#reported = signatures(this.#paths());
      this.#follow();
      this.#options.onFilesChange();
    });
  }

  /** Starts watching new files and folders and stops watching removed ones. */
  #follow(): void {
    const paths = this.#paths();
    this.#pollFiles(paths);
    this.#watchDirectories(paths);
  }

  #pollFiles(paths: readonly string[]): void {
    for (const path of this.#polled) if (!paths.includes(path)) unwatchFile(path, this.#look);
    for (const path of paths) {
      if (!this.#polled.includes(path)) watchFile(path, { persistent: false, interval: pollMs }, this.#look);
    }
    this.#polled = paths;
  }

  #watchDirectories(paths: readonly string[]): void {
    const existing = new Set([this.#workspace, ...paths.map(dirname)].filter((directory) => existsSync(directory)));
    for (const [directory, watcher] of this.#directories) {
      if (existing.has(directory)) continue;
      watcher?.close();
      this.#directories.delete(directory);
    }
    // A workspace that does not exist yet is tried too: the attempt logs that once, and polling continues.
    for (const directory of [...existing, this.#workspace]) {
      if (this.#directories.has(directory)) continue;
      this.#directories.set(directory, watchDirectory(this.#deps.logger, directory, this.#look));
    }
  }
}

function watchDirectory(logger: Logger, directory: string, onEvent: () => void): FSWatcher | undefined {
  const unavailable = (error: unknown): void => {
    logger.warn('config.watch-failed', { directory, error: String(error), poll_ms: pollMs });
  };
  try {
    const watcher = watch(directory, { persistent: false }, onEvent);
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
