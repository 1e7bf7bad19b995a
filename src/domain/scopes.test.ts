import fc from 'fast-check';
import { expect, test } from 'vitest';
import { verifies } from '../../test/support/verifies.ts';
import { grantsWriting, isReadOnly } from './scopes.ts';

test.each([
  'write:files',
  'write:git',
  'write:memory',
  'write:api',
  'vault:write',
  'execute:*',
  'execute:commands',
  'VAULT:Write',
  'chat:write.public',
  'users.profile:write',
  'admin:org',
  'manage',
  'issues.create',
  'db:insert',
  'files:read_write',
  'mail.send',
  '*',
  '*:*',
  'read:files write:files',
  'read:files,write:files',
])('%s grants writing', (scope) => {
  expect(grantsWriting(scope)).toBe(true);
});

test.each([
  'read:files',
  'read:git',
  'read:memory',
  'read:web',
  'read:tables',
  'read:pages',
  'read:databases',
  'read:api',
  'read:*',
  'db:select',
  'db:describe',
  'vault:read',
  'search:read',
  'drive.readonly',
])('%s does not', (scope) => {
  expect(grantsWriting(scope)).toBe(false);
});

test.each([
  ['a word that nobody knows', 'frobnicate:files'],
  ['a thing without a verb', 'repo'],
  ['a star that may be the thing', 'files:*'],
  ['a verb inside another word', 'read:write-ahead-log'],
  ['a verb inside another word, alone', 'overwrite'],
  ['reading what is named like a verb', 'admin.users:read'],
  ['reading what is named like a verb, the other way round', 'read:admin'],
  ['nothing', ''],
  ['only a separator', ':'],
])('%s grants nothing', (_what, scope) => {
  expect(grantsWriting(scope)).toBe(false);
});

test(
  verifies('scopes:read-only', 'without a scope that writes a server is read-only; without scopes it is not'),
  () => {
    const readOnly = (scopes: readonly string[] | undefined) => isReadOnly({ scopes, readOnly: false });
    expect(readOnly(undefined)).toBe(false);
    expect(readOnly([])).toBe(true);
    expect(readOnly(['read:files'])).toBe(true);
    expect(readOnly(['read:files', 'write:files'])).toBe(false);
    expect(readOnly([''])).toBe(true);
  },
);

test('said to be read-only, a server is, whatever its scopes', () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom('write:files', '*', 'read:files', 'x')), (scopes) => {
      expect(isReadOnly({ scopes, readOnly: true })).toBe(true);
    }),
  );
});
