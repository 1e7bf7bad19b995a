import type { Problem } from '../domain/index.ts';
import type { Ledger } from '../ledger/index.ts';

/** What the operator should know of the ledger, beside the problems of the configuration. */
export function ledgerProblems({ health, runFilesBehind }: Ledger, journal: string): Problem[] {
  const problems: Problem[] = [];
  if (health !== 'good') {
    problems.push({
      severity: 'error',
      file: journal,
      message: `Calls are refused because they cannot be recorded: ${health.reason}.`,
      fix: 'Free disk space or repair the folder; the hub tries again automatically.',
    });
  }
  if (runFilesBehind !== undefined) {
    problems.push({
      severity: 'warning',
      file: '.runs/agents',
      message: `Calls are recorded in the journal alone: ${runFilesBehind}.`,
      fix: 'Repair that place; the lines are added automatically.',
    });
  }
  return problems;
}
