// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables in configuration are written so.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { stringify } from 'yaml';
import { replacePart, type TextPlace } from './replace-text.ts';
import type { Dialect } from './text-tree.ts';

const secret = 'ghp_abc123';
const order = { part: secret, by: '${T}' };

function place(field: string, text: string, line = 1): TextPlace {
  return { within: ['servers', 's'], field, line, text };
}

const cases: readonly [what: string, dialect: Dialect, before: string, at: TextPlace, after: string][] = [
  [
    'a quoted text between comments',
    'jsonc',
    '{\r\n\t"servers": { "s": {"env": {"T" : "ghp_abc123" /* mine */}} } // end\r\n}',
    place('env.T', secret),
    '{\r\n\t"servers": { "s": {"env": {"T" : "${T}" /* mine */}} } // end\r\n}',
  ],
  [
    'a part of a text',
    'jsonc',
    '{"servers":{"s":{"headers":{"A":"Bearer ghp_abc123"}}}}',
    place('headers.A', `Bearer ${secret}`),
    '{"servers":{"s":{"headers":{"A":"Bearer ${T}"}}}}',
  ],
  [
    'an escaped text',
    'jsonc',
    '{"servers":{"s":{"headers":{"A":"\\u0067hp_abc123\\t"}}}}',
    place('headers.A', `${secret}\t`),
    '{"servers":{"s":{"headers":{"A":"${T}\\t"}}}}',
  ],
  [
    'a plain text',
    'yaml',
    'servers:\n  s:\n    env:\n      T: ghp_abc123 # mine\n',
    place('env.T', secret),
    'servers:\n  s:\n    env:\n      T: ${T} # mine\n',
  ],
  [
    'a plain text in a flow map',
    'yaml',
    'servers: { s: { env: { T: ghp_abc123, U: 1 } } }\n',
    place('env.T', secret),
    'servers: { s: { env: { T: "${T}", U: 1 } } }\n',
  ],
  [
    'an item of a list',
    'yaml',
    "servers:\n  s:\n    args:\n    - a\n    - '--t=ghp_abc123'\n",
    place('args.1', `--t=${secret}`),
    "servers:\n  s:\n    args:\n    - a\n    - '--t=${T}'\n",
  ],
  [
    'a block',
    'yaml',
    'servers:\n  s:\n    env:\n      T: >-\n        ghp_abc123\n      U: 2\n',
    place('env.T', secret),
    'servers:\n  s:\n    env:\n      T: >-\n        ${T}\n      U: 2\n',
  ],
  [
    'an anchor',
    'yaml',
    'servers:\n  s: { env: { T: &t ghp_abc123 } }\n  u: { env: { T: *t } }\n',
    place('env.T', secret),
    'servers:\n  s: { env: { T: &t "${T}" } }\n  u: { env: { T: *t } }\n',
  ],
  [
    'a key with dots',
    'yaml',
    'servers:\n  s:\n    env:\n      a.b: ghp_abc123\n',
    place('env.a.b', secret),
    'servers:\n  s:\n    env:\n      a.b: ${T}\n',
  ],
  [
    'a text that a format calls otherwise',
    'yaml',
    'servers:\n  s:\n    inner:\n      T: ghp_abc123\n',
    place('env.T', secret, 4),
    'servers:\n  s:\n    inner:\n      T: ${T}\n',
  ],
  [
    'only the one that is meant',
    'yaml',
    'servers:\n  s: { env: { T: "ghp_abc123", U: "ghp_abc123" } } # ghp_abc123\n',
    place('env.U', secret),
    'servers:\n  s: { env: { T: "ghp_abc123", U: "${T}" } } # ghp_abc123\n',
  ],
];

test.each(cases)('a secret is replaced in %s, and nothing else changes', (_what, dialect, before, at, after) => {
  expect(replacePart(before, dialect, at, order)).toEqual({ kind: 'edited', text: after });
});

test.each<[string, Dialect, string, TextPlace]>([
  ['a broken file', 'yaml', 'servers: { s: { env: { T: ghp_abc123', place('env.T', secret)],
  ['another text', 'yaml', 'servers: { s: { env: { T: other } } }', place('env.T', secret)],
  [
    'two that could be meant',
    'yaml',
    'servers: { s: { a: { T: ghp_abc123 }, b: { T: ghp_abc123 } } }',
    place('env.T', secret),
  ],
  ['an alias', 'yaml', 'x: &t ghp_abc123\nservers: { s: { env: { T: *t } } }', place('env.T', secret, 2)],
  ['another server', 'yaml', 'servers: { u: { env: { T: ghp_abc123 } } }', place('env.T', secret)],
])('%s is left alone', (_what, dialect, text, at) => {
  expect(replacePart(text, dialect, at, order)).toEqual({ kind: 'unsupported' });
});

const name = fc.stringMatching(/^[a-z][a-z0-9_-]{0,8}$/);
const around = fc.string({ maxLength: 8, size: 'max' });
const other = fc.oneof(fc.string({ maxLength: 12, size: 'max' }), fc.integer(), fc.constant('a: b # c\nd'));

test('in any file, what is before and after the text stays as it is', () => {
  let edits = 0;
  fc.assert(
    fc.property(
      fc.dictionary(name, other, { maxKeys: 4 }),
      fc.tuple(around, around),
      fc.record({ json: fc.boolean(), flow: fc.boolean(), crlf: fc.boolean(), indent: fc.constantFrom(2, 4) }),
      (others, [left, right], { json, flow, crlf, indent }) => {
        const text = left + secret + right;
        const value = { servers: { s: { ...others, THIS: text, NEXT: 1 }, u: others } };
        const plain = json
          ? JSON.stringify(value, undefined, flow ? undefined : indent)
          : stringify(value, { indent, collectionStyle: flow ? 'flow' : 'any', lineWidth: 0 });
        const before = crlf ? plain.replaceAll('\n', '\r\n') : plain;
        const result = replacePart(before, json ? 'jsonc' : 'yaml', place('THIS', text), order);
        if (result.kind === 'unsupported') return;
        edits += 1;
        expect(result.text).not.toContain(secret);
        const parts = (each: string): string[] => [
          each.slice(0, each.indexOf('THIS')),
          each.slice(each.indexOf('NEXT')),
        ];
        expect(parts(result.text)).toEqual(parts(before));
      },
    ),
    { numRuns: 300 },
  );
  // Only texts with line breaks of another kind, and the like, cannot be edited.
  expect(edits).toBeGreaterThan(200);
});
