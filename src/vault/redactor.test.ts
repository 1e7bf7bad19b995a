import fc from 'fast-check';
import { expect, test } from 'vitest';
import { verifies } from '../../test/support/verifies.ts';
import { createRedactor } from './index.ts';

const plain = createRedactor([]);

test.each([
  ['{"password":"hunter2"}', '{"password":"[redacted]"}'],
  ['{"a":{"b":[{"Client_Secret":"x"}]}}', '{"a":{"b":[{"Client_Secret":"[redacted]"}]}}'],
  ['{"apiKey":"x","api-key":"y","X-API-KEY":"z","apikey":"w"}', keys('apiKey', 'api-key', 'X-API-KEY', 'apikey')],
  ['{"credentials":{"user":"u","pin":[1,{"a":"}"}]},"n":1}', '{"credentials":"[redacted]","n":1}'],
  ['{"private_key":[1,2],"accessKey":5,"n":[]}', '{"private_key":"[redacted]","accessKey":"[redacted]","n":[]}'],
  ['{"token":"abc","refreshToken":"d","authtoken":"e"}', keys('token', 'refreshToken', 'authtoken')],
  ['{"Cookie":"a=b","authorization":"Basic eHg6eXk="}', keys('Cookie', 'authorization')],
  ['{"pass\\u0077ord":"hunter2"}', '{"pass\\u0077ord":"[redacted]"}'],
  ['{ "password" : "a\\"b" , "n": 1}', '{ "password":"[redacted]" , "n": 1}'],
])('members that say secret are hidden: %s', (text, shown) => {
  expect(plain.json(text)).toBe(shown);
  expect(() => JSON.parse(plain.json(text))).not.toThrow();
});

test.each([
  '{"max_tokens":512,"token_count":3,"tokens":77,"maxTokens":"512","total_tokens":1}',
  '{"nextPageToken":"CAUQAA","continuation_token":"x","page_token":"y","nextToken":"z","progressToken":"p1"}',
  '{"secretName":"db","token_type":"x","secret_id":"i","password_policy":"strict","cookie_name":"c"}',
  '{"secretary":"Ann","passport":"P1","tokenizer":"bpe","compass":"N","passed":"yes","bypass":"no"}',
  '{"password":null,"secret":true,"requires_token":false}',
  '{"text":"The secret of a good token is its password policy: rotate."}',
  '{"url":"https://example.com/a@b?c=d","mail":"a@example.com","n":12345678901234567890.10e+5}',
  '{"a":"task-runner-of-the-whole-suite","b":"AKIA","c":"eyJ","d":"ask-me-anything-please-now"}',
])('what only sounds secret stays: %s', (text) => {
  expect(plain.json(text)).toBe(text);
});

test.each([
  ['Bearer abc.def-123', 'Bearer [redacted]'],
  ['key ghp_0123456789abcdefghij.', 'key [redacted].'],
  ['line\ngho_0123456789abcdefghij', 'line\n[redacted]'],
  ['github_pat_11ABCDEFG0123456789_abcdef', '[redacted]'],
  ['sk-proj-0123456789abcdefghij', '[redacted]'],
  ['xoxb-1234567890-abcdef', '[redacted]'],
  ['AKIAIOSFODNN7EXAMPLE', '[redacted]'],
  ['eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl', '[redacted]'],
  ['glpat-0123456789abcdefghij', '[redacted]'],
  ['postgres://app:p@ss:word@db.example/x', 'postgres://app:[redacted]@db.example/x'],
  ['qm_0123456789abcdefghjkmn', '[redacted]'],
  ['-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----\nend', '[redacted]\nend'],
  ['-----BEGIN PRIVATE KEY-----\nMIIE', '[redacted]'],
  ['GET /?api_key=k123&x=1', 'GET /?api_key=[redacted]&x=1'],
  ['export DB_PASSWORD="a b"; next', 'export DB_PASSWORD="[redacted]"; next'],
  ["curl -H 'Authorization: Basic eHg6eXk=' x", "curl -H 'Authorization: Basic [redacted]' x"],
  ['max_tokens=5 page_token=abc', 'max_tokens=5 page_token=abc'],
  ['said {"password": "x y", "n": 1} there', 'said {"password": "[redacted]", "n": 1} there'],
])('credentials are told by their look: %j', (text, shown) => {
  expect(plain.message(text)).toBe(shown);
  expect(plain.message(shown)).toBe(shown);
  expect(JSON.parse(plain.json(JSON.stringify({ a: [text] })))).toEqual({ a: [shown] });
});

test('a JSON document inside a string has members too', () => {
  const inner = JSON.stringify({ config: { password: 'a"b\\c' }, n: 1 });
  const shown = JSON.parse(plain.json(JSON.stringify({ body: inner })));
  expect(JSON.parse(shown.body)).toEqual({ config: { password: '[redacted]' }, n: 1 });
});

test('a document inside a string keeps its layout when nothing in it is secret', () => {
  for (const body of ['{\n  "a" : "token",\n  "b": [1]\n}', '[redacted]\n{"x"}', '[see "token" below]\n']) {
    const text = JSON.stringify({ body, forced: 'x' }).replace('x', '\\u0078');
    expect(JSON.parse(plain.json(text)).body).toBe(body);
  }
});

test(
  verifies(
    'ledger:redaction',
    'known values are hidden in every spelling, keys and numbers included; short ones are not',
  ),
  () => {
    const redactor = createRedactor([
      'pässwörd!',
      'a"b\\c\nd',
      '7654321',
      'p@ss/word',
      'abc',
      'pässwörd!-longer',
      'redacted',
    ]);
    expect(redactor.json('{"q":"x pässwörd! y","abc":"abc"}')).toBe('{"q":"x [redacted] y","abc":"abc"}');
    expect(redactor.json('{"q":"pässwörd!-longer"}')).toBe('{"q":"[redacted]"}');
    expect(redactor.json('{"q":"p\\u00e4ssw\\u00f6rd!"}')).toBe('{"q":"[redacted]"}');
    expect(redactor.json(`{"q":${JSON.stringify('<a"b\\c\nd>')}}`)).toBe('{"q":"<[redacted]>"}');
    expect(redactor.json('{"q":"p@ss\\/word","u":"https://h/?p=p%40ss%2Fword"}')).toBe(
      '{"q":"[redacted]","u":"https://h/?p=[redacted]"}',
    );
    expect(redactor.json('{"n":7654321,"pässwörd!":[1]}')).toBe('{"n":"[redacted]","[redacted]":[1]}');
    expect(redactor.message('it said pässwörd! and "a\\"b\\\\c\\nd"')).toBe('it said [redacted] and "[redacted]"');
  },
);

test('line breaks between members go, so that the result is one line', () => {
  expect(plain.json('{\r\n  "a": "x\\ny",\n  "b": 1\n}')).toBe('{   "a": "x\\ny",   "b": 1 }');
});

const harmless = fc.json({ noUnicodeString: false }).filter((text) => !/[A-Za-z]{4}|[:=@]\/\//.test(text));

test('property: texts without anything secret come back as they are', () => {
  fc.assert(
    fc.property(harmless, fc.bigInt(), (text, big) => {
      const whole = `{"list":[${text},${big}],"big":${big}}`;
      expect(createRedactor(['not-in-there']).json(whole)).toBe(whole);
    }),
  );
});

test(verifies('ledger:redaction', 'property: a known secret never survives, the rest does'), () => {
  const secret = fc.string({ unit: 'grapheme', minLength: 6, maxLength: 20 }).filter((text) => /[a-z]{3}/i.test(text));
  const around = fc.string({ unit: 'binary' });
  fc.assert(
    fc.property(secret, around, around, fc.bigInt(), fc.boolean(), (value, before, after, big, escaped) => {
      fc.pre(!'[redacted]'.includes(value) && !'{"holder":,"big":}'.includes(value));
      const literal = JSON.stringify(before + value + after);
      const text = `{"holder":${escaped ? ascii(literal) : literal},"big":${big}}`;
      const shown = createRedactor([value]).json(text);
      expect(JSON.parse(shown).holder).not.toContain(value);
      expect(shown).not.toContain('\n');
      expect(shown.slice(shown.lastIndexOf(':'))).toBe(`:${big}}`);
    }),
  );
});

const words = fc.constantFrom(
  'password',
  'a token',
  'Bearer x12345678',
  'ghp_0123456789abcdef',
  'x\nsk-0123456789abcdefgh',
  'a',
  '{"secret":"x"}',
  'api_key = 5',
  ': ',
  'https://u:p@h/',
);
const key = fc.oneof(words, fc.string());
const { tree } = fc.letrec((tie) => ({
  tree: fc.oneof(
    { maxDepth: 4 },
    words,
    fc.array(words, { maxLength: 3 }).map((list) => list.join('')),
    fc.string(),
    fc.integer(),
    fc.constant(null),
    fc.array(tie('tree'), { maxLength: 4 }),
    fc.dictionary(key, tie('tree'), { maxKeys: 4 }),
  ),
}));

test('property: any valid JSON stays valid, and the second time changes nothing', () => {
  fc.assert(
    fc.property(tree, fc.constantFrom(undefined, 2), (value, indent) => {
      const once = plain.json(JSON.stringify(value, null, indent));
      expect(() => JSON.parse(once)).not.toThrow();
      expect(once).not.toMatch(/[\r\n]/);
      expect(plain.json(once)).toBe(once);
    }),
  );
});

test('property: the quick look overlooks nothing that the walk would change', () => {
  const redactor = createRedactor(['x12345678', 'two\nlines']);
  fc.assert(
    fc.property(tree, (value) => {
      const text = JSON.stringify(value);
      // The escape forces the walk.
      expect(redactor.json(`[${text},"\\u0041"]`)).toBe(`[${redactor.json(text)},"\\u0041"]`);
    }),
  );
});

test('text that is not JSON is still searched, and never hangs', () => {
  for (const text of ['{"password":"x', '"', '{"a":"\\', '{"password":', '{"password"', '[[[{{{"token":[[']) {
    expect(typeof plain.json(text)).toBe('string');
  }
  expect(plain.json('{"password":"hunter2')).not.toContain('hunter2');
  const long = 'password'.repeat(20_000);
  expect(plain.message(long)).toBe(long);
});

function keys(...names: string[]): string {
  return `{${names.map((name) => `"${name}":"[redacted]"`).join(',')}}`;
}

/** Another spelling of the same string, as clients write it that keep to ASCII. */
function ascii(literal: string): string {
  return literal.replace(/\\u[\da-f]{4}|\\.|[^ -~]|[a-c]/g, (part) =>
    part.startsWith('\\') ? part : `\\u${part.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
