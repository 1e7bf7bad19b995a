import { listEarlierTokens } from '../../../storage/index.ts';
import type { CliContext } from '../context.ts';
import type { Invocation } from '../global-options.ts';
import { stateLayout } from '../hub/state-layout.ts';
import { printableLine } from '../terminal/printable.ts';

/** Lists the tokens that `qm state migrate` makes valid. They lay in the workspace, where agents could add their own. */
export async function showEarlierTokens(cli: CliContext, { workspace, json }: Invocation): Promise<void> {
  if (json) return;
  const { terminal } = cli;
  for (const { id, agent, created, expires } of await listEarlierTokens(stateLayout(cli, workspace))) {
    const from = `issued ${dayOf(created)}, ${expires <= cli.clock.now() ? 'expired' : 'expires'} ${dayOf(expires)}`;
    terminal.err(`  ${id}  ${printableLine(agent)}  ${terminal.errColours.dim(from)}`);
  }
}

/** A file may hold a number that is no date. */
function dayOf(time: number): string {
  const date = new Date(time);
  return Number.isNaN(date.getTime()) ? 'at no date' : date.toISOString().slice(0, 10);
}
