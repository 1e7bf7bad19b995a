import { realpath } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { isJsonObject, type Logger } from '../../base/index.ts';
import { type CoverOptions, mayHaveFolder } from './covered-places.ts';

/** Clients have a handful. */
const maxRoots = 100;
const maxCharacters = 4096;

/**
 * Lets only roots pass that are folders or files of the workspace or of `allowPaths`, links followed, and that contain no
 * keys: servers often give their clients access to all roots. The first root of a server that does not pass is logged.
 */
export function createRootsFilter(
  { logger }: { readonly logger: Logger },
  optionsNow: () => CoverOptions,
): (server: string, roots: readonly unknown[]) => Promise<readonly unknown[]> {
  const reported = new Set<string>();
  return async (server, roots) => {
    const options = optionsNow();
    const passed: unknown[] = [];
    for (const root of roots.slice(0, maxRoots)) if (await isPassed(root, options)) passed.push(root);
    const dropped = roots.length - passed.length;
    if (dropped > 0 && !reported.has(server)) {
      reported.add(server);
      const hint = 'Servers get only roots in the workspace or in allowPaths that contain no keys.';
      logger.warn('roots.dropped', { server, dropped, hint });
    }
    return passed;
  };
}

async function isPassed(root: unknown, options: CoverOptions): Promise<boolean> {
  const path = isJsonObject(root) ? pathOf(root.uri) : undefined;
  // What does not exist may become a link to anywhere.
  const real = path && (await realpath(path).catch(() => undefined));
  return real !== undefined && mayHaveFolder(real, options);
}

function pathOf(uri: unknown): string | undefined {
  if (typeof uri !== 'string' || uri.length > maxCharacters || !URL.canParse(uri)) return undefined;
  const { protocol, host } = new URL(uri);
  if (protocol !== 'file:' || host !== '') return undefined;
  try {
    return fileURLToPath(uri);
  } catch {
    return undefined;
  }
}
