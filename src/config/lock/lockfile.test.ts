import fc from 'fast-check';
import { expect, test } from 'vitest';
import { verifies } from '../../../test/support/verifies.ts';
import { formatLockfile } from './format-lockfile.ts';
import type { LockedServer, Lockfile } from './lockfile.ts';
import { parseLockfile } from './parse-lockfile.ts';

const print = fc.integer({ min: 0 }).map((number) => `sha256:${number.toString(16).padStart(64, '0')}`);
const name = fc.string({ unit: 'binary', minLength: 1, maxLength: 20 }).filter((text) => text !== '__proto__');
const names = <Value>(value: fc.Arbitrary<Value>): fc.Arbitrary<ReadonlyMap<string, Value>> =>
  fc.array(fc.tuple(name, value), { maxLength: 6 }).map((entries) => new Map(entries));
const locked: fc.Arbitrary<LockedServer> = fc.record({
  instructions: fc.option(print, { nil: undefined }),
  tool: names(print),
  prompt: names(print),
  template: names(print),
  acknowledged: names(fc.string({ minLength: 1 })),
});
const lockfile: fc.Arbitrary<Lockfile> = names(locked);

test(verifies('lock:file', 'what is written is read again, and the order of entries does not matter'), () => {
  fc.assert(
    fc.property(lockfile, (servers) => {
      const text = formatLockfile(servers);
      expect(parseLockfile(text)).toEqual(sorted(servers));
      expect(formatLockfile(new Map([...servers].reverse()))).toBe(text);
    }),
  );
});

test(verifies('lock:file', 'white space, key order and comments do not matter'), () => {
  fc.assert(
    fc.property(lockfile, (servers) => {
      const text = formatLockfile(servers);
      const dense = JSON.stringify(JSON.parse(text, reversed));
      expect(formatLockfile(parseLockfile(`// by hand\n${dense}`))).toBe(text);
    }),
  );
});

test(verifies('lock:file', 'each definition is one line, and no character of a name is invisible'), () => {
  const tools = new Map([
    ['add', `sha256:${'a'.repeat(64)}`],
    ['add\u200b\u202e\u{e0041}', `sha256:${'b'.repeat(64)}`],
  ]);
  const none = { instructions: undefined, prompt: new Map(), template: new Map(), acknowledged: new Map() };
  expect(formatLockfile(new Map([['notes', { ...none, tool: tools }]])).split('\n')).toEqual([
    '{',
    '  "version": 1,',
    '  "servers": {',
    '    "notes": {',
    '      "tools": {',
    `        "add": "sha256:${'a'.repeat(64)}",`,
    `        "add\\u200b\\u202e\\udb40\\udc41": "sha256:${'b'.repeat(64)}"`,
    '      }',
    '    }',
    '  }',
    '}',
    '',
  ]);
});

test.each([
  ['', 'empty'],
  ['<<<<<<< HEAD', 'line 1'],
  ['{"version":2,"servers":{}}', 'version'],
  ['{"servers":{}}', 'version'],
  ['{"version":1,"servers":{},"skills":{}}', 'skills'],
  ['{"version":1,"servers":{"a":{"tolls":{}}}}', 'tolls'],
  ['{"version":1,"servers":{"a":{"tools":{"b":"sha256:12"}}}}', 'b'],
  ['{"version":1,"servers":{"a":{},"a":{}}}', 'twice'],
])('a lockfile with a mistake is refused whole: %s', (text, why) => {
  expect(() => parseLockfile(text)).toThrow(why);
});

function reversed(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).reverse());
}

const sortedMap = <Value>(map: ReadonlyMap<string, Value>): ReadonlyMap<string, Value> =>
  new Map([...map].sort(([a], [b]) => (a < b ? -1 : 1)));

function sorted(servers: Lockfile): Lockfile {
  return sortedMap(servers);
}
