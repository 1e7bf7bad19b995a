import { readAdminToken, readServeFile, workspaceLayout } from '../../storage/index.ts';
import { createHubClient, type HubClient } from './hub-client.ts';

/** The hub that serves the workspace now, or undefined. */
export async function findHub(workspace: string): Promise<HubClient | undefined> {
  const found = await readServeFile(workspaceLayout(workspace));
  if (found === undefined) return undefined;
  const { token } = await readAdminToken(found.adminTokenFile);
  return createHubClient({ url: found.url, pid: found.pid, adminToken: token });
}
