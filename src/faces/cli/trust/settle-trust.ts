import { affectsAll } from '../../../domain/index.ts';
import type { PendingItem } from '../../../trust/index.ts';
import type { CliContext } from '../context.ts';
import { tellHubOfTrust } from './tell-hub.ts';
import { askForTrust, canAsk } from './trust-prompt.ts';
import { openChanges, readWorkspaceTrust, type WorkspaceTrust } from './workspace-trust.ts';

export interface SettleOptions {
  /** Ask only about these servers. */
  readonly servers?: readonly string[] | undefined;
  /** The operator approves everything that is on disk now. */
  readonly trustAll?: boolean | undefined;
}

/**
 * Asks the person at the terminal about what waits for approval, if there is one. Whatever was declined before is not
 * asked about again.
 */
export async function settleTrust(cli: CliContext, workspace: string, options: SettleOptions = {}): Promise<void> {
  if (options.trustAll !== true && !canAsk(cli)) return;
  const trust = await readWorkspaceTrust(cli, workspace);
  const { loaded, pending } = trust;
  if (pending.length === 0) return;
  if (options.trustAll === true) {
    const changes = await openChanges(cli, workspace);
    await changes.approve(loaded, changes.itemsOf(loaded), 'flag');
    await tellHubOfTrust(cli, workspace);
    return;
  }
  // A file that cannot be read denies everything. That is to be mended, not approved.
  if (loaded.configuration.problems.some(affectsAll)) return;
  const open = pending.filter((each) => !each.declined && isMeant(each, options.servers));
  if (open.length > 0) await settleByAsking(cli, workspace, trust, open);
}

/** Asks about these items and keeps the answers. */
export async function settleByAsking(
  cli: CliContext,
  workspace: string,
  { loaded, replaced }: WorkspaceTrust,
  open: readonly PendingItem[],
): Promise<void> {
  const { createRedaction } = await import('../../../hub/index.ts');
  cli.mask.use(createRedaction(loaded.configuration));
  if (replaced) cli.terminal.err(replacedNote);
  const { approved, declined } = await askForTrust(cli, open);
  if (approved.length + declined.length === 0) return;
  const changes = await openChanges(cli, workspace);
  if (approved.length > 0) await changes.approve(loaded, approved, 'terminal');
  if (declined.length > 0) await changes.decline(loaded, declined, 'terminal');
  await tellHubOfTrust(cli, workspace);
}

export const replacedNote =
  'Another folder is at this path than the one that you approved, so its servers need your approval again.';

/** The rules concern every server. */
function isMeant({ item }: PendingItem, servers: readonly string[] | undefined): boolean {
  return servers === undefined || item.kind === 'policy' || servers.includes(item.name);
}
