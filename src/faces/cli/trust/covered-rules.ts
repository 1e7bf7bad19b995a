import type { PendingItem, TrustItem } from '../../../trust/index.ts';
import type { CliContext } from '../context.ts';
import { pendingLines } from './pending-lines.ts';

/** A first approval covers the rules on disk, although the operator did not name them. So they are shown. */
export function showCoveredRules(cli: CliContext, pending: readonly PendingItem[], chosen: readonly TrustItem[]): void {
  if (chosen.some(({ kind }) => kind === 'policy')) return;
  const covered = pending.filter(
    ({ item, change, declined }) => item.kind === 'policy' && change === 'new' && !declined,
  );
  if (covered.length === 0) return;
  cli.terminal.err('This is the first approval here, so it covers the rules of the workspace too:');
  for (const line of pendingLines(cli, covered)) cli.terminal.err(line);
}
