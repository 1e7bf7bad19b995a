import { readAdminToken, readServeFile, workspaceLayout } from '../../storage/index.ts';
import { createHubClient, type HubClient } from './hub-client.ts';

/** The hub that serves the workspace now, or undefined. */
export async function findHub(workspace: string): Promise<HubClient | undefined> {
  const layout = workspaceLayout(workspace);
  const found = await readServeFile(layout);
  if (found === undefined) return undefined;
  return createHubClient({ url: found.url, pid: found.pid, adminToken: await readAdminToken(layout) });
}
