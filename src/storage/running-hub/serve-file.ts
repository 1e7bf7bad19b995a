import { z } from 'zod';
import { type RandomBytes, systemRandom } from '../../base/index.ts';
import { fileError } from '../files/file-error.ts';
import { type DocumentRules, readJsonDocument } from '../files/json-document.ts';
import type { WorkspaceLayout } from '../files/layout.ts';
import { withLock } from '../files/lock.ts';
import { identifyThisProcess, isRunning } from '../files/process-identity.ts';
import { removeFile, replaceFile } from '../files/write-file.ts';

/** Why a hub runs: `qm serve`, in the background for commands and clients, or inside one command. */
const hubRoles = ['serve', 'background', 'command'] as const;
export type HubRole = (typeof hubRoles)[number];

const serveFileSchema = z.object({
  url: z.url({ protocol: /^(https?|unix)$/ }).describe('Where the running hub answers; unix: if it has no port'),
  role: z
    .enum(hubRoles)
    .default('serve')
    .describe('`serve`, a hub in the background, or one inside another command. The last two make room for `serve`'),
  pid: z.int().positive(),
  startTime: z.string().describe('Tells this process from a later one with the same pid'),
  workspace: z.string(),
  adminTokenFile: z.string(),
  controlSocket: z.string().optional().describe('Where commands of the operator attach'),
});

/** How commands find the running hub of a workspace. */
export type ServeFile = Readonly<z.infer<typeof serveFileSchema>>;

/** The running hub, or undefined. A file left by a dead hub counts as none. */
export async function readServeFile(layout: WorkspaceLayout): Promise<ServeFile | undefined> {
  const found = await readJsonDocument(layout, layout.serve, serveDocument);
  return found !== undefined && (await isRunning(found)) ? found : undefined;
}

export type ServeEntry = Pick<ServeFile, 'url' | 'controlSocket'> & { readonly role?: HubRole };

/** Announces that this process serves the workspace. */
export async function writeServeFile(
  layout: WorkspaceLayout,
  { url, role = 'serve', controlSocket }: ServeEntry,
  random: RandomBytes = systemRandom,
): Promise<ServeFile> {
  const mine: ServeFile = {
    url,
    role,
    ...(await identifyThisProcess()),
    workspace: layout.workspace,
    adminTokenFile: layout.adminToken,
    ...(controlSocket === undefined ? {} : { controlSocket }),
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

/** Removes the file, unless another hub has written its own meanwhile. */
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
  fix: 'Delete it; a running hub must then be started again to be found.',
};
