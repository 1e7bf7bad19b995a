import { sleep } from '../../../base/index.ts';
import type { CliContext } from '../context.ts';
import type { Invocation } from '../global-options.ts';
import { withApprovals } from './approval-client.ts';
import { approvalTable } from './approval-lines.ts';

/** How often the hub is asked. A person does not notice. */
const pollMs = 500;

/** Prints each call once that waits for a decision, until Ctrl-C. */
export async function followApprovals(cli: CliContext, invocation: Invocation): Promise<void> {
  const stop = cli.signals.graceful();
  const printed = new Set<string>();
  await withApprovals(cli, invocation, async (client) => {
    while (!stop.aborted) {
      const fresh = (await client.list(false)).filter(({ id }) => !printed.has(id));
      for (const approval of fresh) {
        printed.add(approval.id);
        if (invocation.json) cli.terminal.out(JSON.stringify(approval));
      }
      if (!invocation.json && fresh.length > 0) for (const line of approvalTable(cli, fresh)) cli.terminal.out(line);
      await sleep(cli.clock, pollMs, stop);
    }
  });
}
