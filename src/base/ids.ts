import { randomBytes } from 'node:crypto';

/** Random bytes as a dependency, so that tests can fix ids. */
export type RandomBytes = (count: number) => Buffer;

export const systemRandom: RandomBytes = randomBytes;

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz';

/** A short random id in lower-case Crockford base 32: safe in file names, headers and shells. */
export function createId(random: RandomBytes, length: number): string {
  let id = '';
  for (const byte of random(length)) id += alphabet[byte & 31];
  return id;
}
