import { hash, timingSafeEqual } from 'node:crypto';
import { createId, type RandomBytes } from '../../base/index.ts';

/** The text an agent carries. Shown once, never stored. */
export interface NewToken {
  readonly id: string;
  readonly token: string;
}

export function createAgentToken(random: RandomBytes): NewToken {
  const id = createId(random, 10);
  return { id, token: `qm_${id}_${random(32).toString('base64url')}` };
}

/** A cheap test before hashing. `${` is a variable that a client did not expand. */
export function looksLikeAgentToken(text: string): boolean {
  return text.length <= 200 && text.startsWith('qm_') && !text.includes('${');
}

/** The token holds 256 random bits, so a plain hash cannot be searched and needs no salt. */
export function hashToken(token: string): string {
  return hash('sha256', token, 'hex');
}

/** Comparing hashes takes the same time wherever two secrets differ, and whatever their lengths. */
export function sameSecret(a: string, b: string): boolean {
  return timingSafeEqual(hash('sha256', a, 'buffer'), hash('sha256', b, 'buffer'));
}
