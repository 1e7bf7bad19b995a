import type { CliContext } from './context.ts';

/** Says below the ledger when a hub that died left calls that are not in it yet. */
export async function noteUnsettledCalls({ terminal, clock }: CliContext, workspace: string): Promise<void> {
  const { hasUnsettledCalls } = await import('../../ledger/index.ts');
  if (await hasUnsettledCalls(workspace, clock)) terminal.err(terminal.errColours.yellow(note));
}

const note =
  'A hub here ended without closing its ledger; its last calls are added when `qm serve` or `qm call` runs next.';
