import { z } from 'zod';
import { type RandomBytes, systemRandom } from '../../base/index.ts';
import { fileError } from './file-error.ts';
import { type DocumentRules, readJsonDocument } from './json-document.ts';
import type { WorkspaceLayout } from './layout.ts';
import { withLock } from './lock.ts';
import { identifyThisProcess, isRunning } from './process-identity.ts';
import { removeFile, replaceFile } from './write-file.ts';

const serveFileSchema = z.object({
  url: z.url({ protocol: /^https?$/ }).describe('Where the running hub answers'),
  pid: z.int().positive(),
  startTime: z.string().describe('Tells this process from a later one with the same pid'),
  workspace: z.string(),
  adminTokenFile: z.string(),
});

/** How commands find the hub that runs in a workspace. */
export type ServeFile = Readonly<z.infer<typeof serveFileSchema>>;

/** The hub that runs, or undefined; what a dead one left behind counts as nothing. */
export async function readServeFile(layout: WorkspaceLayout): Promise<ServeFile | undefined> {
  const found = await readJsonDocument(layout, layout.serve, serveDocument);
  return found !== undefined && (await isRunning(found)) ? found : undefined;
}

/** Says that this process serves the workspace at `url`. */
export async function writeServeFile(
  layout: WorkspaceLayout,
  url: string,
  random: RandomBytes = systemRandom,
): Promise<ServeFile> {
  const mine: ServeFile = {
    url,
    ...(await identifyThisProcess()),
    workspace: layout.workspace,
    adminTokenFile: layout.adminToken,
  };
  await withLock(layout, 'serve', async () => {
    try {
      await replaceFile(layout, layout.serve, `${JSON.stringify(mine)}\n`, random);
    } catch (error) {
      throw fileError(error, 'write', layout.serve);
    }
  });
  return mine;
}

/** Takes it away, unless another hub has written its own meanwhile. */
export async function removeServeFile(layout: WorkspaceLayout, mine: ServeFile): Promise<void> {
  await withLock(layout, 'serve', async () => {
    const found = await readJsonDocument(layout, layout.serve, serveDocument);
    const ours = found?.pid === mine.pid && found.startTime === mine.startTime && found.url === mine.url;
    if (ours) removeFile(layout, layout.serve);
  });
}

const serveDocument: DocumentRules<ServeFile> = {
  schema: serveFileSchema,
  maxBytes: 64 * 1024,
  trusted: true,
  fix: 'Delete it; a running hub must then be started again to be found.',
};
