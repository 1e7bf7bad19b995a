import type { RandomBytes } from '../../base/index.ts';
import { fileError } from './file-error.ts';
import { type FileRules, readSmallFile } from './json-document.ts';
import type { WorkspaceLayout } from './layout.ts';
import { createFileOnce, replaceFile } from './write-file.ts';

/** Signs what clients keep for the hub; all processes of a workspace share it, through restarts too. */
export async function ensureStateKey(layout: WorkspaceLayout, random: RandomBytes): Promise<Uint8Array> {
  const { stateKey } = layout;
  try {
    await createFileOnce(layout, stateKey, newKey(random), random);
    let text = await readSmallFile(layout, stateKey, rules);
    if (text === undefined || !pattern.test(text)) {
      // Damaged: what was signed before is not known any more, and nothing else is lost.
      text = newKey(random);
      await replaceFile(layout, stateKey, text, random);
    }
    return Buffer.from(text.trim(), 'base64url');
  } catch (error) {
    throw fileError(error, 'write', stateKey);
  }
}

/** Writes a key that this process has where there is none. */
export async function putStateKey(layout: WorkspaceLayout, key: Uint8Array, random: RandomBytes): Promise<void> {
  await createFileOnce(layout, layout.stateKey, `${Buffer.from(key).toString('base64url')}\n`, random);
}

const rules: FileRules = { maxBytes: 1000, fix: 'Delete it; a new one is made.', secret: true, trusted: true };
const pattern = /^[A-Za-z0-9_-]{43}\n?$/;

function newKey(random: RandomBytes): string {
  return `${random(32).toString('base64url')}\n`;
}
