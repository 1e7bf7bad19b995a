import { HubError, type RandomBytes } from '../../base/index.ts';
import { fileError } from './file-error.ts';
import { damaged, readSmallFile } from './json-document.ts';
import type { WorkspaceLayout } from './layout.ts';
import { closeToOthers } from './private-file.ts';
import { ensureStateFolder } from './state-folder.ts';
import { createFileOnce } from './write-file.ts';

export interface AdminToken {
  readonly token: string;
  readonly warnings: readonly string[];
}

/** The operator's credential for the API; made once, readable by its owner alone. */
export async function ensureAdminToken(layout: WorkspaceLayout, random: RandomBytes): Promise<AdminToken> {
  await ensureStateFolder(layout);
  try {
    await createFileOnce(layout.adminToken, `qma_${random(32).toString('base64url')}\n`, random);
  } catch (error) {
    throw fileError(error, 'write', layout.adminToken);
  }
  return readAdminToken(layout.adminToken);
}

/** Closes the file to others before it trusts it, and says so. */
export async function readAdminToken(file: string): Promise<AdminToken> {
  const warnings = await closeToOthers(file, fix);
  const token = (await readSmallFile(file, 1000, fix))?.trim();
  if (token === undefined) {
    throw new HubError('CONFIG_INVALID', `There is no admin token at ${file}.`, { hint: 'Start `qm serve` once.' });
  }
  if (!/^qma_[A-Za-z0-9_-]{43}$/.test(token)) throw damaged(file, 'it does not hold an admin token', fix);
  return { token, warnings };
}

const fix = 'Delete it; the next `qm serve` makes a new one.';
