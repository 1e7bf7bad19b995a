import fc from 'fast-check';
import { expect, test } from 'vitest';
import { verifies } from '../../../test/support/verifies.ts';
import { HubError } from '../../base/index.ts';
import { mayHoldScopedUri, rewriteReferences, rewriteResultUris } from './rewrite-uris.ts';
import { readScopedUri, scopeUri } from './scoped-uris.ts';

const rename = (uri: string): string => `<${uri}>`;
const rewritten = (text: string): unknown => JSON.parse(rewriteReferences(text, rename));

test(verifies('apps:references', 'in every spelling of the JSON text'), () => {
  for (const spelling of [
    '"ui://a"',
    '"\\u0075i://a"',
    '"u\\u0069://a"',
    '"ui\\u003A//a"',
    '"ui:\\/\\/a"',
    '"\\u0075\\u0069\\u003a\\u002f\\u002fa"',
  ]) {
    for (const key of ['"uri"', '"\\u0075ri"', '"resourceUri" ', '"ui/resourceUri"\n', '"ui\\/resourceUri"']) {
      expect(rewritten(`{"content":[{${key}: ${spelling}}]}`), `${key} ${spelling}`).toEqual({
        content: [{ [JSON.parse(key)]: '<ui://a>' }],
      });
    }
  }
  for (const spelling of ['UI://a', 'Ui://a', '\\u0055I://a', 'u\\u0049:\\/\\/a', 'uI\\u003a//a']) {
    const name = JSON.parse(`"${spelling}"`) as string;
    expect(rewritten(`{"content":[{"uri":"${spelling}"}]}`), spelling).toEqual({ content: [{ uri: `<${name}>` }] });
  }
  for (const spelling of ['SKILL:x', 'sKi\\u004cL:x', '\\u0053\\u004BILL:x']) {
    const name = JSON.parse(`"${spelling}"`) as string;
    expect(rewritten(`{"_meta":{"uri":"${spelling}"}}`), spelling).toEqual({ _meta: { uri: `<${name}>` } });
  }
  expect(rewritten('{"contents":[{"uri":"\\u0073ki\\u006C\\u006cs:"},{"uri":"ski\\u006C\\u006c:x"}]}')).toEqual({
    contents: [{ uri: 'skills:' }, { uri: '<skill:x>' }],
  });
});

test(verifies('apps:references', 'nothing but references changes, and all else keeps its spelling'), () => {
  for (const text of [
    '{"content":[{"type":"text","text":"{\\"uri\\":\\"ui://a\\"}"}]}',
    '{"structuredContent":{"uri":"ui://a","content":[{"uri":"ui://a"}]}}',
    '{"content":[{"name":"ui://a"}],"_meta":{"ui://a":"uri","a":["ui://a"]}}',
    '{"content":[{"uri":"fui://a"}],"a":"ui://a"}',
    '{"uri":"ui://a"}',
    '{"content":"ui://a"}',
  ]) {
    expect(rewriteReferences(text, rename)).toBe(text);
  }
  const mixed = '{"n":1e400,"n":12345678901234567890, "content" :[ {"uri" :"ui://a","size":1.0} ],"z":"\\u00e4"}';
  expect(rewriteReferences(mixed, rename)).toBe(mixed.replace('"ui://a"', '"<ui://a>"'));
});

test('references in the result of a task and in messages are rewritten', () => {
  expect(rewritten('{"result":{"content":[{"uri":"ui://a"}],"structuredContent":{"uri":"ui://a"}}}')).toEqual({
    result: { content: [{ uri: '<ui://a>' }], structuredContent: { uri: 'ui://a' } },
  });
  expect(rewritten('{"messages":[{"content":{"type":"resource","resource":{"uri":"skill://a"}}}]}')).toEqual({
    messages: [{ content: { type: 'resource', resource: { uri: '<skill://a>' } } }],
  });
});

test('a result is the same object unless something changed; its value follows its text', () => {
  const plain = { text: '{"content":[]}', value: { content: [] } };
  expect(rewriteResultUris(plain, rename)).toBe(plain);
  const value = { content: [{ uri: 'ui://a' }], isError: false };
  const { text, value: changed } = rewriteResultUris({ text: JSON.stringify(value), value }, rename);
  expect(changed).toEqual(JSON.parse(text));
  expect(changed).toEqual({ content: [{ uri: '<ui://a>' }], isError: false });
});

test('a result with references beyond the limit is refused as soon as they are found', () => {
  const content = (count: number): string => JSON.stringify({ content: Array(count).fill({ uri: 'ui://n/a' }) });
  let renamed = 0;
  const count = (uri: string): string => {
    renamed++;
    return uri;
  };
  rewriteResultUris({ text: content(10_000), value: {} }, count);
  expect(renamed).toBe(10_000);
  renamed = 0;
  expect(() => rewriteResultUris({ text: content(20_000), value: {} }, count)).toThrow(HubError);
  expect(renamed).toBe(10_000);
  const task = `{"result":{${'"":0,'.repeat(100_000)}"_meta":{"uri":"ui://a"}}}`;
  expect(() => rewriteResultUris({ text: task, value: {} }, rename)).toThrow(HubError);
});

test('references of a definition beyond the limit lead nowhere and make nothing longer', () => {
  const content = Array.from({ length: 10_002 }, () => ({ uri: 'ui://n/a' }));
  const { content: after } = rewritten(JSON.stringify({ content })) as { content: { uri: string }[] };
  expect(after.slice(9_998).map(({ uri }) => uri)).toEqual(['<ui://n/a>', '<ui://n/a>', 'ui:', 'ui:']);
});

test('whatever the result, only references change: compared with a walk through the parsed value', () => {
  const uri = fc.constantFrom('ui://a', 'skill://"b\\', 'ui:', 'http://ui://', 'UI://a', ' ui://a');
  const key = fc.constantFrom('uri', 'resourceUri', 'ui/resourceUri', 'ui://k', 'x', 'u"ri');
  const { tree } = fc.letrec((tie) => ({
    tree: fc.oneof(
      { maxDepth: 4 },
      uri,
      fc.integer(),
      fc.array(tie('tree'), { maxLength: 4 }),
      fc.dictionary(key, tie('tree'), { maxKeys: 4 }),
    ),
  }));
  const top = fc.constantFrom('content', 'contents', 'messages', '_meta', 'structuredContent', 'other');
  fc.assert(
    fc.property(fc.dictionary(top, tree), fc.constantFrom(undefined, 2), (value, indent) => {
      const text = JSON.stringify(value, undefined, indent);
      const expected = Object.fromEntries(
        Object.entries(value).map(([name, member]) => [name, referring.has(name) ? walk(member) : member]),
      );
      expect(rewritten(text)).toEqual(JSON.parse(JSON.stringify(expected)));
      if (JSON.stringify(expected) !== JSON.stringify(value)) expect(mayHoldScopedUri(text)).toBe(true);
    }),
    { numRuns: 300 },
  );
});

const referring = new Set(['content', 'contents', 'messages', '_meta']);

function walk(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(walk);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => {
      const isReference = typeof member === 'string' && /^(?:ui|skill):/i.test(member);
      return [
        key,
        isReference && ['uri', 'resourceUri', 'ui/resourceUri'].includes(key) ? rename(member) : walk(member),
      ];
    }),
  );
}

test(verifies('apps:owner', 'a namespaced URI leads back to what the server wrote, exactly'), () => {
  const rest = fc.oneof(fc.webPath(), fc.string({ unit: 'binary' }), fc.constantFrom('', '/', 'a/../b', '{+x}', '//'));
  fc.assert(
    fc.property(
      fc.constantFrom('ui', 'skill'),
      rest,
      fc.stringMatching(/^[a-z][a-z0-9.-]{0,9}$/),
      (scheme, after, name) => {
        const own = `${scheme}://${after}`;
        const scoped = scopeUri(name, own) ?? '';
        expect(scoped).toBe(`${scheme}://${name}/${after}`);
        expect(readScopedUri(scoped)).toEqual({ namespace: name, own });
      },
    ),
  );
  expect(readScopedUri('UI://North/a')).toEqual({ namespace: 'north', own: 'ui://a' });
  expect(scopeUri('n', 'Ui://A')).toBe('ui://n/A');
  expect(scopeUri('n', 'SKILL://a')).toBe('skill://n/a');
  for (const odd of ['ui:a', 'ui:/a', 'uix://a', ' ui://a', 'file:///a']) {
    expect(scopeUri('n', odd), odd).toBeUndefined();
  }
});
