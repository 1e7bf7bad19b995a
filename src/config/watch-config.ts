import { existsSync, type FSWatcher, readdirSync, statSync, unwatchFile, watch, watchFile } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { Clock, Logger, Timer } from '../base/index.ts';
import { folderTree } from './folder-tree.ts';
import { watchedPlaces } from './load-fleet.ts';
import type { Place } from './readers/reader.ts';

export interface ConfigWatch {
  /** The files that others name may be other ones now. */
  refresh(): void;
  close(): void;
}

export interface WatchConfigOptions {
  readonly workspace: string;
  readonly onChange: () => void;
  /** Further files, by their paths in the workspace. */
  readonly named?: () => readonly string[];
}

/**
 * Calls back once things are quiet after a configuration file was written, replaced, made or removed.
 * Start it before loading, so that nothing falls in between. It does not keep the process alive.
 *
 * Directories are watched rather than files: editors replace a file, and a watch on it would stay with the old one.
 * A slow poll stands behind it for network disks, containers and a directory that was itself replaced.
 */
export function watchConfig(
  deps: { readonly logger: Logger; readonly clock: Clock },
  options: WatchConfigOptions,
): ConfigWatch {
  const workspace = resolve(options.workspace);
  const directories = new Map<string, FSWatcher | undefined>();
  let polled: readonly string[] = [];
  const allPaths = (): readonly string[] => {
    const named = options.named?.() ?? [];
    return [...new Set([...pathsOf(workspace), ...named.map((file) => join(workspace, file))])];
  };
  let reported = signatures(allPaths());
  let pending: Timer | undefined;
  let closed = false;
  follow();

  return {
    refresh() {
      if (!closed) follow();
    },
    close() {
      closed = true;
      pending?.cancel();
      for (const watcher of directories.values()) watcher?.close();
      for (const path of polled) unwatchFile(path, look);
    },
  };

  // Both see the same change; whoever comes second finds it reported. Reading alone moves the access time.
  function look(): void {
    if (!closed && signatures(allPaths()) !== reported) changed();
  }

  function changed(): void {
    pending?.cancel();
    pending = deps.clock.setTimer(quietMs, () => {
      pending = undefined;
      reported = signatures(allPaths());
      follow();
      options.onChange();
    });
  }

  /** Files and folders that came are followed from now on, those that went no longer. */
  function follow(): void {
    const paths = allPaths();
    for (const path of polled) if (!paths.includes(path)) unwatchFile(path, look);
    for (const path of paths) {
      if (!polled.includes(path)) watchFile(path, { persistent: false, interval: pollMs }, look);
    }
    polled = paths;
    const wanted = new Set([workspace, ...paths.map(dirname)].filter((directory) => existsSync(directory)));
    for (const [directory, watcher] of directories) {
      if (wanted.has(directory)) continue;
      watcher?.close();
      directories.delete(directory);
    }
    for (const directory of wanted) {
      if (!directories.has(directory)) directories.set(directory, watchDirectory(deps.logger, directory, look));
    }
    // Not there yet: the attempt says so once, and the poll goes on.
    if (!directories.has(workspace)) directories.set(workspace, watchDirectory(deps.logger, workspace, look));
  }
}

const quietMs = 100;
const pollMs = 2_000;

function watchDirectory(logger: Logger, directory: string, onEvent: () => void): FSWatcher | undefined {
  const unavailable = (error: unknown): void => {
    logger.warn('config.watch-unavailable', { directory, error: String(error), poll_ms: pollMs });
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

/** Every path that a place may mean now: files, whether there or not, and folders with what is in them. */
function pathsOf(workspace: string): readonly string[] {
  const paths = watchedPlaces.flatMap((place) => {
    if ('file' in place) return [join(workspace, place.file)];
    if ('tree' in place) {
      const { folders } = folderTree(workspace, place.tree);
      const all = [
        place.tree,
        ...folders.flatMap((folder) => [folder, ...place.names.map((name) => `${folder}/${name}`)]),
      ];
      return all.map((path) => join(workspace, path));
    }
    const folder = join(workspace, place.folder);
    return [folder, ...namesIn(folder, place).map((name) => join(folder, name))];
  });
  return [...new Set(paths)];
}

function namesIn(folder: string, { endings }: Extract<Place, { folder: string }>): string[] {
  try {
    return readdirSync(folder).filter((name) => endings.some((ending) => name.endsWith(ending)));
  } catch {
    return [];
  }
}

/** Changes when any of the files does; permissions count, since a file may become readable. */
function signatures(paths: readonly string[]): string {
  return paths.map((path) => `${path}=${signature(path)}`).join('|');
}

function signature(file: string): string {
  try {
    const { dev, ino, size, mtimeNs, ctimeNs } = statSync(file, { bigint: true });
    return [dev, ino, size, mtimeNs, ctimeNs].join(',');
  } catch {
    return 'absent';
  }
}
