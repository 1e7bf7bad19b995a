import fc from 'fast-check';
import { expect, test } from 'vitest';
import { verifies } from '../../test/support/verifies.ts';
import { createNameBook, maxNameLength, mostNames, type NameMemory, prefixedName } from './names.ts';

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

test('a server that renames its tools without end takes no more memory, and names stay unique', () => {
  const kept: string[] = [];
  const book = createNameBook('prefixed', { given: [], remember: ({ name }) => kept.push(name) });
  const names = Array.from({ length: mostNames + 500 }, (_, index) => book.nameOf('hostile', `tool-${index}`));
  expect(kept).toHaveLength(mostNames);
  expect(new Set(names).size).toBe(names.length);
  expect(book.nameOf('hostile', `tool-${mostNames + 7}`)).toBe(names[mostNames + 7]);
  expect(book.nameOf('hostile', 'tool-3')).toBe('hostile_tool-3');
  expect(book.nameOf('good', 'echo')).toBe('good_echo');
});

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
    for (let round = 0; round < 3; round++) {
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

/** What a workspace keeps when its hub ends. */
function memoryOf(...given: NameMemory['given'][]) {
  const kept = given.flatMap((each) => [...each]);
  return { given: kept, remember: (named: (typeof kept)[number]) => void kept.push(named) };
}

test(
  verifies(
    'names:restart',
    'names outlive the book: in the next life the order in which they are asked for is nothing',
  ),
  () => {
    const naming = fc.constantFrom('prefixed' as const, 'preserved' as const);
    fc.assert(
      fc.property(naming, tools, fc.infiniteStream(fc.nat()), (kind, all, order) => {
        const memory = memoryOf();
        const first = createNameBook(kind, memory);
        const half = all.slice(0, Math.ceil(all.length / 2));
        const given = half.map(([server, own]) => first.nameOf(server, own));
        // Newcomers come first, and in any order.
        const shuffled = all
          .map((pair) => ({ pair, place: order.next().value ?? 0 }))
          .sort((a, b) => a.place - b.place)
          .map(({ pair }) => pair);
        const second = createNameBook(kind, memory);
        for (const [server, own] of shuffled) second.nameOf(server, own);
        expect(half.map(([server, own]) => second.nameOf(server, own))).toEqual(given);
        const third = createNameBook(kind, memory);
        for (const [server, own] of all) expect(third.nameOf(server, own)).toBe(second.nameOf(server, own));
        expect(third.collisions.toSorted(byGiven)).toEqual(second.collisions.toSorted(byGiven));
      }),
    );
  },
);

function byGiven(a: { readonly given: string }, b: { readonly given: string }): number {
  return a.given < b.given ? -1 : 1;
}

test('a name of one that is not there any more stays taken as long as it is remembered', () => {
  const memory = memoryOf([{ server: 'gone', own: 'read', name: 'read' }]);
  const book = createNameBook('preserved', memory);
  expect(book.nameOf('new', 'read')).toBe('new_read');
  expect(book.collisions).toEqual([
    { server: 'new', wanted: 'read', holder: 'gone.read', newcomer: 'new.read', given: 'new_read' },
  ]);
  expect(memory.given).toHaveLength(2);
});

test('a memory that gives a name twice, or two names to one tool, is believed once', () => {
  const book = createNameBook(
    'preserved',
    memoryOf([
      { server: 'a', own: 'read', name: 'read' },
      { server: 'b', own: 'read', name: 'read' },
      { server: 'a', own: 'read', name: 'other' },
    ]),
  );
  expect(book.nameOf('a', 'read')).toBe('read');
  expect(book.nameOf('b', 'read')).toBe('b_read');
  expect(book.nameOf('c', 'other')).toBe('other');
});
