import type { CliContext } from '../context.ts';

/** Notes below the ledger that a dead hub left calls which are not in it yet. */
export async function noteUnsettledCalls(cli: CliContext, workspace: string): Promise<void> {
  const [{ hasUnsettledCalls }, { ledgerPlaces }, { stateLayout }] = await Promise.all([
    import('../../../ledger/index.ts'),
    import('../../../storage/index.ts'),
    import('../hub/state-layout.ts'),
  ]);
  const { terminal, clock } = cli;
  if (await hasUnsettledCalls(ledgerPlaces(stateLayout(cli, workspace)), clock))
    terminal.err(terminal.errColours.yellow(note));
}

const note =
  'A hub in this workspace ended without closing its audit log; its last calls are added when `qm serve` or `qm call` runs next.';
