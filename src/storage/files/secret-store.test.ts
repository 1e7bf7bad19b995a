import { chmod, lstat, readFile, rename, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { verifies } from '../../../test/support/verifies.ts';
import { createSystemClock, systemRandom } from '../../base/index.ts';
import { createSecretBook, type SecretBook, type SecretStore } from '../../vault/index.ts';
import type { WorkspaceLayout } from './layout.ts';
import { createFileSecretStore } from './secret-store.ts';
import { temporaryWorkspace } from './temporary-workspace.fixture.ts';

const clock = createSystemClock();

function bookOf(store: SecretStore): SecretBook {
  return createSecretBook({ clock, random: systemRandom, store });
}

const open = (layout: WorkspaceLayout): SecretBook => bookOf(createFileSecretStore(layout));

test(
  verifies('secrets:sealed', 'values are readable only through the book, and the files only by their owner'),
  async () => {
    const layout = await temporaryWorkspace();
    expect(await open(layout).values()).toEqual(new Map());
    expect(await open(layout).set('TOKEN', 'sesame-of-one')).toBe('added');
    expect(await open(layout).set('other.name-2', 'sesame-of-two')).toBe('added');
    expect(await open(layout).set('TOKEN', 'sesame-of-three')).toBe('replaced');
    expect(await open(layout).values()).toEqual(
      new Map([
        ['other.name-2', 'sesame-of-two'],
        ['TOKEN', 'sesame-of-three'],
      ]),
    );
    expect((await open(layout).list()).secrets.map(({ name }) => name)).toEqual(['TOKEN', 'other.name-2']);
    for (const file of [layout.secrets, layout.secretKeys]) {
      expect(await readFile(file, 'utf8')).not.toContain('sesame');
      expect((await stat(file)).mode & 0o777).toBe(0o600);
    }
    expect(await open(layout).remove('TOKEN')).toBe(true);
    expect(await open(layout).remove('TOKEN')).toBe(false);
    expect([...(await open(layout).values()).keys()]).toEqual(['other.name-2']);
  },
);

test('writers at once lose nothing', async () => {
  const layout = await temporaryWorkspace();
  const names = Array.from({ length: 50 }, (_, at) => `N${at}`);
  await Promise.all(names.map((name) => open(layout).set(name, `value of ${name}`)));
  expect(new Set((await open(layout).values()).keys())).toEqual(new Set(names));
});

test.each(['', '1A', 'A B', 'A/B', '-A', 'ä', 'A\n', 'N'.repeat(129)])('%j cannot be a name', async (name) => {
  const layout = await temporaryWorkspace();
  await expect(open(layout).set(name, 'x')).rejects.toMatchObject({ code: 'USAGE' });
});

test('a name that every object has is a name like any other', async () => {
  const layout = await temporaryWorkspace();
  await open(layout).set('__proto__', 'one-value');
  expect([...(await open(layout).values())]).toEqual([['__proto__', 'one-value']]);
});

test('a value is bounded, and so is the store', async () => {
  const layout = await temporaryWorkspace();
  await expect(open(layout).set('A', '')).rejects.toMatchObject({ code: 'USAGE' });
  await open(layout).set('A', 'x'.repeat(64 * 1024));
  await expect(open(layout).set('A', 'x'.repeat(64 * 1024 + 1))).rejects.toMatchObject({ code: 'USAGE' });
  // Characters of several bytes count as such.
  await expect(open(layout).set('A', 'é'.repeat(40_000))).rejects.toMatchObject({ code: 'USAGE' });
});

test(verifies('secrets:sealed', 'a damaged store is an error, and is never overwritten'), async () => {
  const layout = await temporaryWorkspace();
  await open(layout).set('A', 'value-of-a');
  const good = await readFile(layout.secrets, 'utf8');
  const damages = [
    good.slice(0, -20),
    good.replace('"version": 1', '"version": 0'),
    good.replace(/"name": "A"/, '"name": "B"'),
    good.replace(/"key": "[0-9a-f]{4}/, '"key": "0000'),
    good.replace('"keyIn": "file"', '"keyIn": "keychain"'),
    good.replace('"revision": 1', '"revision": 2'),
    '',
    '{}',
  ];
  for (const bad of damages) {
    await writeFile(layout.secrets, bad);
    const works: readonly ((book: SecretBook) => Promise<unknown>)[] = [
      (book) => book.values(),
      (book) => book.set('C', 'x'),
      (book) => book.remove('A'),
      (book) => book.rotate(),
    ];
    for (const work of works) {
      await expect(work(open(layout))).rejects.toMatchObject({
        code: expect.stringMatching(/^(CONFIG_INVALID|KEYCHAIN_UNAVAILABLE)$/),
        hint: expect.any(String),
      });
    }
    expect(await readFile(layout.secrets, 'utf8')).toBe(bad);
  }
  await writeFile(layout.secrets, good);
  expect(await open(layout).values()).toEqual(new Map([['A', 'value-of-a']]));
});

test(verifies('secrets:sealed', 'with the key of another workspace nothing opens'), async () => {
  const [mine, other] = [await temporaryWorkspace(), await temporaryWorkspace()];
  await open(mine).set('A', 'value-of-a');
  await open(other).set('A', 'value-of-another');
  await writeFile(mine.secrets, await readFile(other.secrets, 'utf8'));
  await expect(open(mine).values()).rejects.toThrow(/their key [0-9a-f]{16} is not in .*secret-keys\.json/);
});

test.each([0o644, 0o640, 0o604, 0o660, 0o606])(
  verifies('secrets:sealed', 'files of mode %o, which others can read or write, are refused'),
  async (mode) => {
    for (const file of ['secretKeys', 'secrets'] as const) {
      const layout = await temporaryWorkspace();
      await open(layout).set('A', 'value-of-a');
      await chmod(layout[file], mode);
      await expect(open(layout).values()).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
      await expect(open(layout).set('B', 'x')).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
      expect((await stat(layout[file])).mode & 0o777).toBe(mode);
    }
  },
);

test(verifies('secrets:sealed', 'a link in place of a file is neither followed nor replaced'), async () => {
  for (const file of ['secretKeys', 'secrets'] as const) {
    const layout = await temporaryWorkspace();
    await open(layout).set('A', 'value-of-a');
    const elsewhere = `${layout.workspace}/elsewhere`;
    await rename(layout[file], elsewhere);
    await symlink(elsewhere, layout[file]);
    const before = await readFile(elsewhere, 'utf8');
    await expect(open(layout).values()).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
    await expect(open(layout).set('B', 'x')).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
    await expect(open(layout).rotate()).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
    expect(await readFile(elsewhere, 'utf8')).toBe(before);
    expect((await lstat(layout[file])).isSymbolicLink()).toBe(true);
  }
});

test(verifies('secrets:sealed', 'after a flipped bit anywhere, nothing opens'), async () => {
  const layout = await temporaryWorkspace();
  await open(layout).set('A', 'value-of-a');
  await open(layout).set('B', 'value-of-b');
  const good = await readFile(layout.secrets);
  for (let at = 0; at < good.length; at += 1) {
    const bad = Buffer.from(good);
    bad[at] = (bad[at] ?? 0) ^ (1 << (at % 8));
    await writeFile(layout.secrets, bad);
    const result = await open(layout)
      .values()
      .catch(() => 'refused');
    // White space between the members means nothing.
    if (/\s/.test(String.fromCharCode(good[at] ?? 0)) && result !== 'refused') expect(result).toHaveProperty('size', 2);
    else expect({ at, result }).toEqual({ at, result: 'refused' });
  }
});

test(
  verifies('secrets:no-way-back', 'a reader refuses a file that is gone or back to an earlier version'),
  async () => {
    const layout = await temporaryWorkspace();
    const reader = open(layout);
    expect(await reader.values()).toEqual(new Map());
    await open(layout).set('A', 'first-value');
    const first = await readFile(layout.secrets, 'utf8');
    expect(await reader.values()).toEqual(new Map([['A', 'first-value']]));
    await open(layout).set('A', 'second-value');
    expect(await reader.values()).toEqual(new Map([['A', 'second-value']]));
    await writeFile(layout.secrets, first);
    await expect(reader.values()).rejects.toThrow('an earlier version of the file is back');
    await rm(layout.secrets);
    await expect(reader.values()).rejects.toThrow('the file is gone');
    // A new store is another matter: the operator started over.
    await open(layout).set('A', 'third-value');
    expect(await reader.values()).toEqual(new Map([['A', 'third-value']]));
  },
);

test(verifies('secrets:sealed', 'after a rotation, no earlier copy of the file opens'), async () => {
  const layout = await temporaryWorkspace();
  await open(layout).set('A', 'value-of-a');
  const copy = await readFile(layout.secrets, 'utf8');
  await open(layout).rotate();
  await writeFile(layout.secrets, copy);
  await expect(open(layout).values()).rejects.toThrow('is not in');
});

test('a file that was lost opens when it comes back, also if secrets were stored meanwhile', async () => {
  const layout = await temporaryWorkspace();
  await open(layout).set('A', 'value-of-a');
  await rename(layout.secrets, `${layout.workspace}/lost`);
  await open(layout).set('B', 'value-of-b');
  await rename(`${layout.workspace}/lost`, layout.secrets);
  expect(await open(layout).values()).toEqual(new Map([['A', 'value-of-a']]));
});

test('readers at once, while others write, never take a newer version for the last one', async () => {
  const layout = await temporaryWorkspace();
  const [reader, writer] = [open(layout), open(layout)];
  await writer.set('A', 'value-0');
  let writing = true;
  const writes = (async () => {
    for (let round = 1; round <= 20; round += 1) await writer.set('A', `value-${round}`);
    writing = false;
  })();
  while (writing) {
    const seen = await Promise.all([reader.values(), reader.values(), reader.values()]);
    for (const values of seen) expect(values.get('A')).toMatch(/^value-\d+$/);
  }
  await writes;
});

test.each([
  ['a NUL', 'a\0b', /NUL/],
  ['bytes that were no text', 'a\ufffdb', /not UTF-8/],
  ['half of a character', 'a\ud800b', /not UTF-8/],
  ['too much', 'x'.repeat(1024 * 1024), /over 64 KiB/],
])('a value with %s is refused', async (_what, value, says) => {
  const layout = await temporaryWorkspace();
  await expect(open(layout).set('A', value)).rejects.toThrow(says);
});

test('line breaks and other characters come back as they were', async () => {
  const layout = await temporaryWorkspace();
  const value = '-----BEGIN KEY-----\r\n\tä€𝄞 \u202e"\\\n-----END KEY-----\n';
  await open(layout).set('A', value);
  expect((await open(layout).values()).get('A')).toBe(value);
});

test('several secrets are stored together, or none of them', async () => {
  const layout = await temporaryWorkspace();
  await open(layout).set('A', 'first');
  const both = new Map([
    ['A', 'second'],
    ['B', 'other'],
  ]);
  expect((await open(layout).setAll(both)).results).toEqual(
    new Map([
      ['A', 'replaced'],
      ['B', 'added'],
    ]),
  );
  await expect(open(layout).setAll(new Map([...both, ['A B', 'x']]))).rejects.toMatchObject({ code: 'USAGE' });
  expect(await open(layout).values()).toEqual(both);
});
