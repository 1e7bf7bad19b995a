import type { RandomBytes } from '../../base/index.ts';
import { fileError } from './file-error.ts';
import { type FileRules, readSmallFile } from './json-document.ts';
import type { WorkspaceLayout } from './layout.ts';
import { createFileOnce, replaceFile } from './write-file.ts';

/** Signs the state that clients hold for the hub. All processes of a workspace share the key, also across restarts. */
export function ensureStateKey(layout: WorkspaceLayout, random: RandomBytes): Promise<Uint8Array> {
  return ensureKey(layout, layout.stateKey, random);
}

/** Identifies approved items and seals what was approved. All workspaces of a state home share the key. */
export function ensureTrustKey(layout: WorkspaceLayout, random: RandomBytes): Promise<Uint8Array> {
  return ensureKey(layout, layout.trustKey, random);
}

/** Undefined if nothing was ever approved in this state home. */
export function readTrustKey(layout: WorkspaceLayout): Promise<Uint8Array | undefined> {
  return readKey(layout, layout.trustKey);
}

/** Shows that something comes from this user: a hub that serves a workspace, a backup. The state home must exist. */
export function ensureHomeKey(layout: WorkspaceLayout, random: RandomBytes): Promise<Uint8Array> {
  return ensureKey(layout, layout.homeKey, random);
}

/** Undefined if this state home has none. */
export function readHomeKey(layout: WorkspaceLayout): Promise<Uint8Array | undefined> {
  return readKey(layout, layout.homeKey);
}

async function readKey(layout: WorkspaceLayout, path: string): Promise<Uint8Array | undefined> {
  const text = await readSmallFile(layout, path, rules);
  return text === undefined || !pattern.test(text) ? undefined : Buffer.from(text.trim(), 'base64url');
}

async function ensureKey(layout: WorkspaceLayout, path: string, random: RandomBytes): Promise<Uint8Array> {
  try {
    // Nothing is written if there is a key: on a full disk, it still serves.
    let text = await readSmallFile(layout, path, rules);
    if (text === undefined) {
      await createFileOnce(layout, path, newKey(random), random);
      text = await readSmallFile(layout, path, rules);
    }
    if (text === undefined || !pattern.test(text)) {
      // Damaged. A new key only invalidates what was signed or approved before; nothing else is lost.
      text = newKey(random);
      await replaceFile(layout, path, text, random);
    }
    return Buffer.from(text.trim(), 'base64url');
  } catch (error) {
    throw fileError(error, 'write', path);
  }
}

/** Writes this process's key unless there is one already. */
export async function putStateKey(layout: WorkspaceLayout, key: Uint8Array, random: RandomBytes): Promise<void> {
  await createFileOnce(layout, layout.stateKey, `${Buffer.from(key).toString('base64url')}\n`, random);
}

const rules: FileRules = { maxBytes: 1000, fix: 'Delete it; a new one is made.', secret: true };
const pattern = /^[A-Za-z0-9_-]{43}\n?$/;

function newKey(random: RandomBytes): string {
  return `${random(32).toString('base64url')}\n`;
}
