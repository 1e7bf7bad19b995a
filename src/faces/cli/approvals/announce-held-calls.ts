import type { Hub } from '../../../hub/index.ts';
import type { CliContext } from '../context.ts';
import type { Invocation } from '../global-options.ts';
import { nextCommand } from '../next-command.ts';
import { printableLine } from '../terminal/printable.ts';

/** One line on the terminal of a hub for each call that waits for approval. Returns a function that ends it. */
export function announceHeldCalls(cli: CliContext, { workspace, json }: Invocation, hub: Hub): () => void {
  const { terminal } = cli;
  if (json || !terminal.errIsTerminal) return () => {};
  return hub.onEvent((event) => {
    if (event.type !== 'approval.opened') return;
    const { id, agent, server, tool } = event;
    const command = terminal.errColours.cyan(nextCommand(cli, workspace, `approvals show ${id}`));
    terminal.err(`${printableLine(`${agent} needs approval for ${server}.${tool}`)}: ${command}`);
  });
}
