// biome-ignore-all lint/suspicious/noTemplateCurlyInString: a value that looks like a variable.
import { expect, test } from 'vitest';
import { parseDotEnv } from './parse-dotenv.ts';

test.each([
  ['A=1', '1'],
  ['  A = 1  ', '1'],
  ['export A=1', '1'],
  ['A=', ''],
  ['A= # nothing', ''],
  ['A=a b # remark', 'a b'],
  ['A=a#b', 'a#b'],
  ['A=#fff', '#fff'],
  ['A=b=c', 'b=c'],
  ["A=don't", "don't"],
  ['A="x # y" # remark', 'x # y'],
  ['A="tab\\tline\\nquote\\"back\\\\dollar\\$other\\d"', 'tab\tline\nquote"back\\dollar$other\\d'],
  ["A='as \\n is ${B}'", 'as \\n is ${B}'],
  ['A=`it\'s "so"`', 'it\'s "so"'],
  ['A="two\nlines"', 'two\nlines'],
  ['A="two\r\nlines"\r\n', 'two\nlines'],
  ['A=1\r\n', '1'],
  ['A=1\nA=2', '2'],
])('%j', (text, value) => {
  expect(parseDotEnv(text)).toEqual({ kind: 'values', values: new Map([['A', value]]), unread: [] });
});

test('remarks, blank lines and names alone say nothing; other lines are counted', () => {
  const text = '# A=1\n\n  \nexport HOME\nPATH\n. ./other.env\nB="x\ny"\nif [ -f x ]; then\n=c\n';
  expect(parseDotEnv(text)).toEqual({ kind: 'values', values: new Map([['B', 'x\ny']]), unread: [6, 9, 10] });
});

test.each(['A=1\nB="open\nC=3\n', "A=1\nB='open\n", 'A=1\nB="a"b\n', 'A=1\nB="a\\"\n'])(
  'a quote that does not end the value breaks the file where it opens: %j',
  (text) => {
    expect(parseDotEnv(text)).toMatchObject({ kind: 'broken', line: 2, message: expect.stringContaining('of B') });
  },
);

test('names that JavaScript objects treat specially are names', () => {
  const parsed = parseDotEnv('__proto__=a\nconstructor=b');
  expect(parsed).toMatchObject({
    values: new Map([
      ['__proto__', 'a'],
      ['constructor', 'b'],
    ]),
  });
});

test('megabytes of anything come to an end', () => {
  for (const piece of ['"', '\\"', ' ', 'A=', 'A="\\', '#', 'x ', "A='"]) {
    expect(['values', 'broken']).toContain(parseDotEnv(`A="${piece.repeat(1_000_000)}`).kind);
  }
});
