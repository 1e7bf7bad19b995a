import { realpath } from 'node:fs/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { errnoOf, isJsonObject, type Logger } from '../../base/index.ts';
import { type CoverOptions, mayHaveFolder } from './covered-places.ts';

/** Clients have a handful. */
const maxRoots = 100;
const maxCharacters = 4096;

/**
 * Lets only roots pass that are folders or files of the workspace or of `allowPaths`, links followed, and that contain no
 * keys: servers often give their clients access to all roots. They get the URI of the real path, never the client's own
 * text, which they may read in another way. The first root of a server that does not pass is logged.
 */
export function createRootsFilter(
  { logger }: { readonly logger: Logger },
  optionsNow: () => CoverOptions,
): (server: string, roots: readonly unknown[]) => Promise<readonly unknown[]> {
  const reported = new Set<string>();
  return async (server, roots) => {
    const options = optionsNow();
    const passed: unknown[] = [];
    for (const root of roots.slice(0, maxRoots)) {
      const uri = isJsonObject(root) ? await checkedUri(root.uri, options) : undefined;
      if (isJsonObject(root) && uri !== undefined) passed.push({ ...root, uri });
    }
    const dropped = roots.length - passed.length;
    if (dropped > 0 && !reported.has(server)) {
      reported.add(server);
      const hint = 'Servers get only roots in the workspace or in allowPaths that contain no keys.';
      logger.warn('roots.dropped', { server, dropped, hint });
    }
    return passed;
  };
}

async function checkedUri(given: unknown, options: CoverOptions): Promise<string | undefined> {
  const path = pathOf(given);
  // What does not exist may become a link to anywhere.
  const real = path && (await realpath(path).catch(() => undefined));
  // A server that decodes twice would read another path in a name with `%`.
  if (real === undefined || real.includes('%') || !mayHaveFolder(real, options)) return undefined;
  const { href, pathname } = pathToFileURL(real);
  // A server that does not decode opens this path instead, which may be a link.
  return pathname === real || (await isAbsentOrAllowed(pathname, options)) ? href : undefined;
}

async function isAbsentOrAllowed(path: string, options: CoverOptions): Promise<boolean> {
  try {
    return mayHaveFolder(await realpath(path), options);
  } catch (error) {
    return errnoOf(error) === 'ENOENT';
  }
}

function pathOf(uri: unknown): string | undefined {
  if (typeof uri !== 'string' || uri.length > maxCharacters || /[?#]/.test(uri) || !URL.canParse(uri)) return undefined;
  const { protocol, host } = new URL(uri);
  if (protocol !== 'file:' || host !== '') return undefined;
  try {
    return fileURLToPath(uri);
  } catch {
    return undefined;
  }
}
