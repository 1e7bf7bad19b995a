import { HubError, toHubError } from '../../../base/index.ts';
import type { CliContext } from '../context.ts';
import { findHub } from '../hub/find-hub.ts';
import { hubWords } from '../hub/hub-words.ts';

/** The approvals cannot be written, for example because the disk is full. At least the running hub stops the servers. */
export async function withholdInHub(
  cli: CliContext,
  workspace: string,
  servers: readonly string[] | undefined,
  cause: unknown,
): Promise<never> {
  const { code, message, hint } = toHubError(cause);
  const hub = await findHub(cli, workspace).catch(() => undefined);
  const repeat = `${hint ?? ''} Then run \`qm trust --revoke\` again, before a hub starts.`.trim();
  if (hub === undefined) throw new HubError(code, `Nothing was taken back. ${message}`, { hint: repeat, cause });
  await hub.withhold(servers);
  const which = servers === undefined ? 'all servers' : servers.map((name) => `"${name}"`).join(', ');
  throw new HubError(code, `The ${hubWords(hub.url)} stopped ${which}, but only until it ends. ${message}`, {
    hint: repeat,
    cause,
  });
}
