import { toHubError } from '../../../base/index.ts';
import type { CliContext } from '../context.ts';
import { findHub } from '../hub/find-hub.ts';
import type { TakeUp } from '../hub/hub-take-up.ts';

/** Has the running hub read the secrets again, and no configuration file but these: the operator meant no other. */
export async function tellHubOfSecrets(
  cli: CliContext,
  workspace: string,
  files: readonly string[] = [],
): Promise<TakeUp> {
  const { terminal } = cli;
  const hub = await findHub(cli, workspace).catch(() => undefined);
  if (hub === undefined) return null;
  try {
    await hub.reload(files);
    return { url: hub.url, applied: true };
  } catch (error) {
    terminal.err(`${terminal.errColours.yellow('warning')} ${toHubError(error).message}`);
    return { url: hub.url, applied: false };
  }
}
