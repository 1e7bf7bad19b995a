import { expect, test } from 'vitest';
import { systemRandom } from '../../base/index.ts';
import { createAgentToken, hashToken, looksLikeAgentToken, sameSecret } from './agent-token.ts';

test('a token names its id and carries 32 random bytes', () => {
  const { id, token } = createAgentToken(systemRandom);
  const [, named, secret] = /^qm_([0-9a-z]{10})_([A-Za-z0-9_-]{43})$/.exec(token) ?? [];
  expect(named).toBe(id);
  expect(Buffer.from(secret ?? '', 'base64url')).toHaveLength(32);
  expect(looksLikeAgentToken(token)).toBe(true);
});

test.each([
  ['nothing', ''],
  ['another kind of secret', 'ghp_0123456789'],
  ['an unexpanded variable', `qm_\${QM_TOKEN}`],
  ['something too long', `qm_${'a'.repeat(198)}`],
])('refuses %s before hashing', (_what, text) => {
  expect(looksLikeAgentToken(text)).toBe(false);
});

test('the hash is plain SHA-256 in hex', () => {
  expect(hashToken('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
});

test('secrets are the same only when they are', () => {
  expect(sameSecret('qma_x', 'qma_x')).toBe(true);
  expect(sameSecret('qma_x', 'qma_y')).toBe(false);
  expect(sameSecret('qma_x', 'qma_xx')).toBe(false);
  expect(sameSecret('', 'qma_x')).toBe(false);
});
