import { join } from 'node:path';

/** Where the ledger keeps its files inside a workspace, level by level. */
export const journalPlace: readonly string[] = ['.quartermaster', 'journal'];
export const runsPlace: readonly string[] = ['.runs', 'agents'];

export function journalFolder(workspace: string): string {
  return join(workspace, ...journalPlace);
}

export function runsFolder(workspace: string): string {
  return join(workspace, ...runsPlace);
}

export function runFile(workspace: string, run: string): string {
  return join(runsFolder(workspace), run, runFileName);
}

export const runFileName = 'mcp_calls.jsonl';
