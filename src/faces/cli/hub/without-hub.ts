import { HubError } from '../../../base/index.ts';
import { claimWorkspace, readServeFile, type WorkspaceLayout } from '../../../storage/index.ts';
import type { CliContext } from '../context.ts';

/** The state of a running hub must not change under it. */
export async function withoutHub(cli: CliContext, layout: WorkspaceLayout, work: () => Promise<void>): Promise<void> {
  const { clock, random } = cli;
  const claim = await claimWorkspace(layout, { clock, random });
  try {
    const running = await readServeFile(layout);
    if (running !== undefined) {
      throw new HubError('STATE_LOCKED', `The state is in use by the hub at ${running.url} (process ${running.pid}).`, {
        hint: 'Stop it with `qm stop`, then try again.',
      });
    }
    await work();
  } finally {
    await claim.release();
  }
}
