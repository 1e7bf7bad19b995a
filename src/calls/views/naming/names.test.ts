import fc from 'fast-check';
import { expect, test } from 'vitest';
import { verifies } from '../../../../test/support/verifies.ts';
import { createNameBook, maxNameLength, prefixedName } from './names.ts';

/** Few letters, so that names collide in every way they can. */
const word = fc.oneof(
  fc.string({ unit: fc.constantFrom('a', 'b', '_', '.', '-', 'é'), minLength: 1, maxLength: 6 }),
  fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 }),
  fc.string({ unit: fc.constantFrom('a', 'b'), minLength: 40, maxLength: 60, size: 'max' }),
);
const tools = fc.uniqueArray(fc.tuple(word, word), {
  maxLength: 40,
  size: 'max',
  selector: ([server, tool]) => `${server}\0${tool}`,
});

test(
  verifies('names:safe', 'whatever servers and tools are called, names are unique, short and in the allowed alphabet'),
  () => {
    let collisions = 0;
    fc.assert(
      fc.property(tools, (all) => {
        const book = createNameBook('prefixed');
        const names = all.map(([server, tool]) => book.nameOf(server, tool));
        collisions += book.collisions.length;
        expect(new Set(names).size).toBe(all.length);
        for (const name of names) {
          expect(name).toMatch(/^[A-Za-z0-9_-]+$/);
          expect(name.length).toBeLessThanOrEqual(maxNameLength);
          expect(`mcp__quartermaster__${name}`.length).toBeLessThanOrEqual(64);
        }
      }),
      { numRuns: 300 },
    );
    expect(collisions).toBeGreaterThan(0);
  },
);

test(
  verifies('names:stable', 'a name stays, whatever is named later, in any order and however often it is asked for'),
  () => {
    const naming = fc.constantFrom('prefixed' as const, 'preserved' as const);
    fc.assert(
      fc.property(naming, tools, fc.array(fc.nat(), { maxLength: 60, size: 'max' }), (kind, all, picks) => {
        fc.pre(all.length > 0);
        const book = createNameBook(kind);
        const given = new Map<string, string>();
        for (const pick of picks) {
          const [server, tool] = all[pick % all.length] ?? ['', '']; // not empty, see above
          const name = book.nameOf(server, tool);
          expect(given.get(`${server}\0${tool}`) ?? name).toBe(name);
          given.set(`${server}\0${tool}`, name);
        }
        expect(new Set(given.values()).size).toBe(given.size);
      }),
    );
  },
);

test(
  verifies('names:stable', 'on a collision the first keeps its name, the newcomer gets another, and both are told'),
  () => {
    const book = createNameBook('prefixed');
    expect(book.nameOf('a_b', 'c')).toBe('a_b_c');
    expect(book.collisions).toEqual([]);
    const other = book.nameOf('a', 'b_c');
    expect(other).toMatch(/^a_b_c_[0-9a-f]{8}$/);
    expect(book.nameOf('a_b', 'c')).toBe('a_b_c');
    expect(book.collisions).toEqual([
      { server: 'a', wanted: 'a_b_c', holder: 'a_b.c', newcomer: 'a.b_c', given: other },
    ]);
  },
);

test(
  verifies(
    'names:preserved',
    'preserved names stay as they are, and a newcomer under the same name gets its prefixed one',
  ),
  () => {
    const book = createNameBook('preserved');
    expect(book.nameOf('files', 'read')).toBe('read');
    expect(book.nameOf('files', 'Größe.é 1')).toBe('Größe.é 1');
    expect(book.nameOf('files', 'x'.repeat(200))).toBe('x'.repeat(200));
    expect(book.nameOf('web', 'read')).toBe('web_read');
    expect(book.nameOf('web', 'fetch')).toBe('fetch');
    expect(book.nameOf('files', 'read')).toBe('read');
    expect(book.collisions).toEqual([
      { server: 'web', wanted: 'read', holder: 'files.read', newcomer: 'web.read', given: 'web_read' },
    ]);
    // A tool that is called like the name that was given away.
    expect(book.nameOf('third', 'web_read')).toBe('third_web_read');
  },
);

test.each(['quartermaster_status\u200b', 'a\u202eb', 'x\u001b[31m', 'two\nlines', '\ud800'])(
  'a preserved name with characters that nobody sees is not kept: %j',
  (own) => {
    const book = createNameBook('preserved');
    expect(book.nameOf('files', own)).toMatch(/^files_[A-Za-z0-9_-]+$/);
    expect(book.nameOf('quartermaster', 'quartermaster_status')).not.toBe('quartermaster_status');
  },
);

test('preserved names are unique too', () => {
  fc.assert(
    fc.property(tools, (all) => {
      const book = createNameBook('preserved');
      const names = all.map(([server, tool]) => book.nameOf(server, tool));
      expect(new Set(names).size).toBe(all.length);
      const first = new Map(all.toReversed().map(([server, tool]) => [tool, server]));
      for (const [index, [server, tool]] of all.entries()) {
        const isFirst = first.get(tool) === server;
        const isTaken = names.slice(0, index).includes(tool);
        const isSeen = !/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u.test(tool);
        if (isFirst && !isTaken && isSeen) expect(names[index]).toBe(tool);
      }
    }),
  );
});

test.each([
  ['files', 'read', 'files_read'],
  ['git', 'git_status', 'git_status'],
  ['git', 'git', 'git'],
  ['git', 'gitignore', 'git_gitignore'],
  ['my.server', 'do it', 'my_server_do_it'],
  ['my server', 'my_server_do', 'my_server_do'],
  ['a-b', 'C-d', 'a-b_C-d'],
])('%s + %s is %s', (server, tool, name) => {
  expect(prefixedName(server, tool)).toBe(name);
});

test('a long name keeps its beginning and gets a hash of the whole', () => {
  const exact = prefixedName('s', 'x'.repeat(maxNameLength - 2));
  expect(exact).toBe(`s_${'x'.repeat(maxNameLength - 2)}`);
  const one = prefixedName('s', `${'x'.repeat(maxNameLength)}1`);
  const two = prefixedName('s', `${'x'.repeat(maxNameLength)}2`);
  expect(one).toMatch(/^s_x{33}_[0-9a-f]{8}$/);
  expect(one).toHaveLength(maxNameLength);
  expect(one).not.toBe(two);
  expect(prefixedName('s', `${'x'.repeat(maxNameLength)}1`)).toBe(one);
});

test('dots in names do not make two tools one', () => {
  for (const naming of ['prefixed', 'preserved'] as const) {
    const book = createNameBook(naming);
    expect(book.nameOf('a', 'b.c')).not.toBe(book.nameOf('a.b', 'c'));
  }
});

test('a tool that is called like the name that another would get, hash and all, does not get it twice', () => {
  const long = 'x'.repeat(60);
  for (const naming of ['prefixed', 'preserved'] as const) {
    const book = createNameBook(naming);
    // Whoever comes first may sit on any name, also on those that a collision would lead to.
    const sitters = [prefixedName('s', long)];
    for (let roundTrip = 0; roundTrip < 3; roundTrip++) {
      const probe = createNameBook(naming);
      for (const sitter of sitters) probe.nameOf('s', sitter);
      if (naming === 'preserved') probe.nameOf('t', long);
      sitters.push(probe.nameOf('s', long));
    }
    const names = [
      ...sitters.map((sitter) => book.nameOf('s', sitter)),
      book.nameOf('t', long),
      book.nameOf('s', long),
    ];
    expect(new Set(names).size).toBe(names.length);
    expect(new Set(sitters).size).toBe(sitters.length);
  }
});

test(verifies('names:order', 'no later server gets a name that an undiscovered server may turn out to have'), () => {
  const naming = fc.constantFrom('prefixed' as const, 'preserved' as const);
  fc.assert(
    fc.property(naming, word, tools, (kind, first, all) => {
      const later = all.filter(([server]) => server !== first);
      const before = createNameBook(kind);
      before.reserve(first);
      const given = later.map(([server, tool]) => before.nameOf(server, tool));
      expect(new Set(given).size).toBe(later.length);
      const after = createNameBook(kind);
      const firsts = new Set(all.map(([, tool]) => after.nameOf(first, tool)));
      for (const [index, [server, tool]] of later.entries()) {
        // With names preserved, a name with the later server in it says whose it is.
        if (kind === 'preserved' && given[index] === prefixedName(server, tool)) continue;
        expect(firsts).not.toContain(given[index]);
      }
    }),
    { numRuns: 300 },
  );
});

test('a reserved server takes only names that could be its own', () => {
  const prefixed = createNameBook('prefixed');
  prefixed.reserve('my_bank');
  prefixed.reserve('x'.repeat(60));
  expect(prefixed.nameOf('my', 'bank_pay')).toMatch(/^my_bank_pay_[0-9a-f]{8}$/);
  expect(prefixed.nameOf('my', 'pay')).toBe('my_pay');
  expect(prefixed.nameOf('my', 'banks')).toBe('my_banks');
  expect(prefixed.collisions).toEqual([]);
  const preserved = createNameBook('preserved');
  expect(preserved.nameOf('first', 'pay')).toBe('pay');
  preserved.reserve('bank');
  expect(preserved.nameOf('later', 'look')).toBe('later_look');
  expect(preserved.nameOf('bank_', 'draw')).toMatch(/^bank__draw_[0-9a-f]{8}$/);
});
