import { HubError, type RandomBytes } from '../../base/index.ts';
import { fileError } from './file-error.ts';
import { damaged, type FileRules, readSmallFile } from './json-document.ts';
import type { WorkspaceLayout } from './layout.ts';
import { ensureStateFolder } from './state-folder.ts';
import { createFileOnce } from './write-file.ts';

/** The operator's credential for the API. Created once, readable only by its owner. */
export async function ensureAdminToken(layout: WorkspaceLayout, random: RandomBytes): Promise<string> {
  await ensureStateFolder(layout);
  await putAdminToken(layout, `qma_${random(32).toString('base64url')}`, random);
  return readAdminToken(layout);
}

/** Writes the token unless there is one already. */
export async function putAdminToken(layout: WorkspaceLayout, token: string, random: RandomBytes): Promise<void> {
  try {
    await createFileOnce(layout, layout.adminToken, `${token}\n`, random);
  } catch (error) {
    throw fileError(error, 'write', layout.adminToken);
  }
}

export async function readAdminToken(layout: WorkspaceLayout): Promise<string> {
  const file = layout.adminToken;
  const token = (await readSmallFile(layout, file, rules))?.trim();
  if (token === undefined) {
    throw new HubError('CONFIG_INVALID', `There is no admin token at ${file}.`, { hint: 'Start `qm serve` once.' });
  }
  if (!/^qma_[A-Za-z0-9_-]{43}$/.test(token)) throw damaged(file, 'it does not hold an admin token', rules.fix);
  return token;
}

const rules: FileRules = {
  maxBytes: 1000,
  fix: 'Delete it; the next `qm serve` makes a new one.',
  secret: true,
};
