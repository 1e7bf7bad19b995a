import { Stats } from 'node:fs';
import { afterEach, expect, test, vi } from 'vitest';
import { checkOwnFile, checkOwnFolder } from './own-files.ts';

afterEach(() => vi.restoreAllMocks());

test.each([
  { me: 500, owner: 500, root: 500, fine: true },
  { me: 500, owner: 501, root: 500, fine: false },
  // Who owns the workspace is no matter for a hub that is not root.
  { me: 500, owner: 501, root: 501, fine: false },
  { me: 500, owner: 0, root: 500, fine: true },
  { me: 0, owner: 501, root: 0, fine: false },
  // A container's root in the workspace of its user.
  { me: 0, owner: 501, root: 501, fine: true },
])('user $me takes what $owner owns below a root of $root: $fine', ({ me, owner, root, fine }) => {
  vi.spyOn(process, 'getuid').mockReturnValue(me);
  const found = stats({ uid: owner, gid: owner, mode: 0o600 });
  const checks = [
    () => checkOwnFolder('/x', found, root),
    () => checkOwnFile('/x', found, { rootOwner: root, secret: false, shared: false }),
  ];
  for (const check of checks) {
    if (fine) check();
    else expect(check).toThrow('/x belongs to another user.');
  }
});

test.each([
  [0o700, 1, true],
  [0o755, 1, true],
  [0o702, 500, false],
  [0o770, 20, false],
  // The user's own group, which some systems let write by default.
  [0o775, 500, true],
])('a folder of mode %o and group %i: %s', (mode, gid, fine) => {
  vi.spyOn(process, 'getuid').mockReturnValue(500);
  const check = (): void => checkOwnFolder('/x', stats({ uid: 500, gid, mode }), 500);
  if (fine) check();
  else expect(check).toThrow('/x can be written by other users.');
});

function stats(facts: { readonly uid: number; readonly gid: number; readonly mode: number }): Stats {
  const found: Stats = Object.create(Stats.prototype);
  return Object.assign(found, { nlink: 1, ...facts, mode: 0o100000 | facts.mode });
}

test('nobody is told to delete a file with secrets that others can read', () => {
  vi.spyOn(process, 'getuid').mockReturnValue(500);
  const found = stats({ uid: 500, gid: 500, mode: 0o644 });
  const hint = expect.stringMatching(/^Run `chmod 600 \/x`/);
  expect(() => checkOwnFile('/x', found, { rootOwner: 500, secret: true, shared: false })).toThrow(
    expect.objectContaining({ hint }),
  );
});
