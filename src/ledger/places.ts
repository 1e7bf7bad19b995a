import { join } from 'node:path';
import type { GuardedPlace } from '../base/index.ts';

/** The folder of the run files in the workspace, one path segment per item. */
export const runsPlace: readonly string[] = ['.runs', 'agents'];

/** Where the ledger writes: the journal is out of the agents' reach, the run files are in the workspace. */
export interface LedgerPlaces {
  readonly workspace: string;
  readonly journal: GuardedPlace;
}

export function journalFolder({ journal }: Pick<LedgerPlaces, 'journal'>): string {
  return join(journal.root, ...journal.names);
}

export function runsFolder(workspace: string): string {
  return join(workspace, ...runsPlace);
}

export function runFile(workspace: string, run: string): string {
  return join(runsFolder(workspace), run, runFileName);
}

export const runFileName = 'mcp_calls.jsonl';

/** The name under which a large run file is put aside. */
export function rotatedRunFile(at: string): string {
  return `mcp_calls.${at.replace(/[-:]|\.\d+/g, '')}.jsonl`;
}

/** The current file of a run, or one that was put aside. */
export function isRunFileName(name: string): boolean {
  return /^mcp_calls(?:\.\d{8}T\d{6}Z)?\.jsonl$/.test(name);
}
