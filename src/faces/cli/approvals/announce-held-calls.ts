import type { Hub } from '../../../hub/index.ts';
import type { CliContext } from '../context.ts';
import type { Invocation } from '../global-options.ts';
import { loginName } from '../login-name.ts';
import { nextCommand } from '../next-command.ts';
import { printableLine } from '../terminal/printable.ts';

/** One line on the terminal of a hub for each call that waits for approval. Returns a function that ends it. */
export function announceHeldCalls(cli: CliContext, { workspace, json }: Invocation, hub: Hub): () => void {
  const { terminal } = cli;
  if (json || !terminal.errIsTerminal) return () => {};
  return hub.onEvent((event) => {
    if (event.type !== 'approval.opened') return;
    const { id, agent, server, tool } = event;
    const what = printableLine(`${agent} needs approval for ${server}.${tool}`);
    const say = (next: string): void => terminal.err(`${what}: ${terminal.errColours.cyan(next)}`);
    const command = nextCommand(cli, workspace, `approvals show ${id}`);
    // No command can decide then, and this terminal is the only place for a link that no program can read.
    if (hub.configuration.approvals.require === 'page') {
      const link = hub.approvals.oneTimeLink(id, loginName(cli));
      link.then(({ url }) => say(url)).catch(() => say(command));
    } else say(command);
  });
}
