import { readAdminToken, readServeFile } from '../../../storage/index.ts';
import type { CommandOrigin } from '../../api/index.ts';
import type { CliContext } from '../context.ts';
import { attachToHub } from './attach-to-hub.ts';
import { createHubClient, type HubClient } from './hub-client.ts';
import { stateLayout } from './state-layout.ts';

/** The hub that currently serves the workspace, or undefined. */
export async function findHub(
  cli: Pick<CliContext, 'env' | 'clock'>,
  workspace: string,
  origin?: CommandOrigin,
): Promise<HubClient | undefined> {
  const layout = stateLayout(cli, workspace);
  const found = await readServeFile(layout);
  if (found === undefined) return undefined;
  const { url, pid, controlSocket } = found;
  const adminToken = await readAdminToken(layout);
  if (controlSocket === undefined || !url.startsWith('unix:')) return createHubClient({ url, pid, adminToken, origin });
  const order = { agent: 'operator', operation: { name: 'http', params: {} } };
  return createHubClient({
    url,
    pid,
    adminToken,
    origin,
    connect: async () => (await attachToHub(cli, { workspace }, order))?.socket,
  });
}
