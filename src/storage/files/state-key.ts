import type { RandomBytes } from '../../base/index.ts';
import { fileError } from './file-error.ts';
import { readSmallFile } from './json-document.ts';
import type { WorkspaceLayout } from './layout.ts';
import { closeToOthers } from './private-file.ts';
import { createFileOnce, replaceFile } from './write-file.ts';

/** Signs what clients keep for the hub; all processes of a workspace share it, through restarts too. */
export async function ensureStateKey({ stateKey }: WorkspaceLayout, random: RandomBytes): Promise<Uint8Array> {
  try {
    await createFileOnce(stateKey, newKey(random), random);
    await closeToOthers(stateKey, fix);
    let text = await readSmallFile(stateKey, 1000, fix);
    if (text === undefined || !pattern.test(text)) {
      // Damaged: what was signed before is not known any more, and nothing else is lost.
      text = newKey(random);
      await replaceFile(stateKey, text, random);
    }
    return Buffer.from(text.trim(), 'base64url');
  } catch (error) {
    throw fileError(error, 'write', stateKey);
  }
}

const fix = 'Delete it; a new one is made.';
const pattern = /^[A-Za-z0-9_-]{43}\n?$/;

function newKey(random: RandomBytes): string {
  return `${random(32).toString('base64url')}\n`;
}
