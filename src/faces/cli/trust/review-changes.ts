import { createInterface, type Interface } from 'node:readline';
import { toHubError } from '../../../base/index.ts';
import type { Hub } from '../../../hub/index.ts';
import type { CliContext } from '../context.ts';
import type { Invocation } from '../global-options.ts';
import { pendingTitle } from './pending-lines.ts';
import { settleByAsking } from './settle-trust.ts';
import { canAsk } from './trust-prompt.ts';
import { readWorkspaceTrust } from './workspace-trust.ts';

/**
 * While a hub runs on a terminal: says when something waits for approval, and asks about it when the person types `t`.
 * Returns a function that ends it.
 */
export function reviewChanges(cli: CliContext, { workspace, json }: Invocation, hub: Hub): () => void {
  if (!canAsk(cli) || json) return () => {};
  const { terminal, stdin } = cli;
  let lines: Interface | undefined;
  let closed = false;

  function listen(): void {
    lines = createInterface({ input: stdin, terminal: false });
    lines.on('line', (text) => {
      if (text.trim().toLowerCase() === 't') void review();
    });
  }

  async function review(): Promise<void> {
    lines?.close();
    try {
      const trust = await readWorkspaceTrust(cli, workspace);
      if (trust.pending.length === 0) terminal.err('Nothing waits for approval.');
      else await settleByAsking(cli, workspace, trust, trust.pending);
      await hub.reload([]);
    } catch (error) {
      terminal.err(toHubError(error).message);
    }
    if (!closed) listen();
  }

  function announce(): void {
    const waiting = hub.pending().filter(({ declined }) => !declined);
    if (waiting.length > 0) terminal.err(`${pendingTitle(waiting)} Type t and press Enter to review.`);
  }

  const stop = hub.onEvent((event) => {
    if (event.type === 'trust.pending') announce();
  });
  announce();
  listen();
  return () => {
    closed = true;
    stop();
    lines?.close();
    stdin.pause();
  };
}
