// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables in configuration are written so.
import fc from 'fast-check';
import { parse as parseJson } from 'jsonc-parser';
import { expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { appendItem, type Edited, putMember, setFlag } from './edit-text.ts';

/** Files as anybody might write them: values of every kind, any indent, block or flow, comments, either line end. */
const scalar = fc.oneof(
  fc.string({ maxLength: 12, size: 'max' }),
  fc.integer(),
  fc.boolean(),
  fc.constant('a: b # c\nd'),
);
const key = fc.stringMatching(/^[a-z][a-z0-9_-]{0,8}$/).filter((name) => name !== 'new' && name !== 'flag');
const server = fc.dictionary(key, fc.oneof(scalar, fc.array(scalar, { maxLength: 3 })), { minKeys: 1, maxKeys: 4 });
const content = fc.record({
  servers: fc.dictionary(key, server, { maxKeys: 4 }),
  agents: fc.dictionary(key, server, { maxKeys: 2 }),
  list: fc.array(fc.stringMatching(/^[a-z]{1,6}$/), { maxLength: 3 }),
});
const layout = fc.record({
  indent: fc.constantFrom(2, 3, 4, 8),
  flow: fc.boolean(),
  crlf: fc.boolean(),
  lastLine: fc.boolean(),
  indentSeq: fc.boolean(),
});

type Content = typeof content extends fc.Arbitrary<infer T> ? T : never;
type Layout = typeof layout extends fc.Arbitrary<infer T> ? T : never;

function asYaml(value: Content, { indent, flow, crlf, lastLine, indentSeq }: Layout): string {
  const text = stringify(value, { indent, indentSeq, collectionStyle: flow ? 'flow' : 'any', lineWidth: 0 });
  // A comment where one may stand in any case: on a line of its own, before a section.
  const noted = flow ? text : text.replace(/^(?=[a-z]+:)/gm, '# note\n');
  const ended = lastLine ? noted : noted.trimEnd();
  return crlf ? ended.replaceAll('\n', '\r\n') : ended;
}

function asJson(value: Content, { indent, flow, crlf }: Layout): string {
  const text = JSON.stringify(value, undefined, flow ? undefined : indent === 3 ? '\t' : indent);
  const noted = flow ? text : text.replaceAll(/\{$/gm, '{ // note');
  return crlf ? noted.replaceAll('\n', '\r\n') : noted;
}

function textOf(edited: Edited): string {
  if (edited.kind === 'unsupported') throw new Error('the edit is not supported');
  return edited.text;
}

/** What was there is still there, in its order: the new text without what was put in is the old one. */
function isKept(before: string, after: string): boolean {
  let at = 0;
  for (const character of after) if (character === before[at]) at += 1;
  return at === before.length;
}

const added = { command: 'x', args: ['a b', '${C}'], env: { A: '1' } };

test.each(['yaml', 'jsonc'] as const)(
  '%s: whatever a file holds, a server, an item and a flag are added and nothing is lost',
  (dialect) => {
    fc.assert(
      fc.property(content, layout, (value, style) => {
        const before = dialect === 'yaml' ? asYaml(value, style) : asJson(value, style);
        const read = (text: string): unknown => (dialect === 'yaml' ? parse(text) : parseJson(text));
        const original = read(before) as Content; // made from it
        const withServer = textOf(putMember(before, dialect, ['servers', 'new'], added));
        expect(read(withServer)).toEqual({ ...original, servers: { ...original.servers, new: added } });
        const withFlag = textOf(setFlag(withServer, dialect, ['servers', 'new', 'flag'], false));
        expect(read(withFlag)).toEqual({
          ...original,
          servers: { ...original.servers, new: { ...added, flag: false } },
        });
        const withItem = textOf(appendItem(before, dialect, ['list'], 'item'));
        expect(read(withItem)).toEqual({ ...original, list: [...original.list, 'item'] });
        expect(isKept(before, withItem)).toBe(true);
        // An empty `{}` in a block file is the one thing that is taken out.
        if (dialect === 'jsonc' || Object.keys(value.servers).length > 0) expect(isKept(before, withFlag)).toBe(true);
      }),
      { numRuns: 150 },
    );
  },
);
