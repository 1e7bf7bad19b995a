import { toHubError } from '../../../base/index.ts';
import type { CliContext } from '../context.ts';
import { findHub } from '../hub/find-hub.ts';

/** Has the running hub look at the approvals at once. It would notice them by itself a moment later. */
export async function tellHubOfTrust(cli: CliContext, workspace: string): Promise<void> {
  const hub = await findHub(cli, workspace).catch(() => undefined);
  await hub?.reload([]).catch((error: unknown) => {
    const { terminal } = cli;
    terminal.err(`${terminal.errColours.yellow('warning')} ${toHubError(error).message}`);
  });
}
