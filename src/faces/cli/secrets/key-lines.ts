import type { WorkspaceLayout } from '../../../storage/index.ts';
import type { ChosenPlace, KeyPlaceKind } from '../../../vault/index.ts';

/** Where the key of the stored secrets is, as a sentence. */
export function keyLine(keyIn: KeyPlaceKind, { secretKeys }: Pick<WorkspaceLayout, 'secretKeys'>): string {
  return keyIn === 'keychain'
    ? 'The key that encrypts stored values is in the keychain of this user.'
    : `The key that encrypts stored values is in ${secretKeys}, which only this user can read.`;
}

/** The same for the first secrets of a workspace, with the reason. */
export function newKeyLine({ keyIn, why }: ChosenPlace, layout: Pick<WorkspaceLayout, 'secretKeys'>): string {
  const where = keyLine(keyIn, layout);
  return why === undefined ? where : `${where} No keychain is used: ${why}.`;
}
