import { join } from 'node:path';

/** Where the ledger keeps its files inside a workspace. */
export function journalFolder(workspace: string): string {
  return join(workspace, '.quartermaster', 'journal');
}

export function runsFolder(workspace: string): string {
  return join(workspace, '.runs', 'agents');
}

export function runFile(workspace: string, run: string): string {
  return join(runsFolder(workspace), run, runFileName);
}

export const runFileName = 'mcp_calls.jsonl';
