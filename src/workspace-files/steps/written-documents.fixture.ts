import fc from 'fast-check';

/** A document as a person might write it, and the paths of maps in it. */
export interface WrittenDocument {
  readonly text: string;
  readonly maps: readonly (readonly string[])[];
  /** Two texts that occur once each, one before and one after most of the rest. */
  readonly marks: readonly [string, string];
}

const key = fc.stringMatching(/^[a-z][a-z0-9 _.-]{0,6}$/).filter((name) => name !== 'hub' && name !== 'off');
const text = fc.oneof(
  fc.string({ maxLength: 10, size: 'max' }),
  fc.constantFrom('a // b', '/* c */', '{', '}', '"', '\\', ',', '# d', 'é\u2028'),
);
const scalar = fc.oneof(text, fc.integer(), fc.boolean(), fc.double({ noNaN: true, noDefaultInfinity: true }));

export type Value = string | number | boolean | null | readonly Value[] | ValueMap;
export interface ValueMap {
  readonly [key: string]: Value;
}

const { value: json } = fc.letrec<{ value: Value; map: ValueMap }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, depthSize: 'small' },
    scalar,
    fc.constant(null),
    fc.array(tie('value'), { maxLength: 3 }),
    tie('map'),
  ),
  map: fc.dictionary(key, tie('value'), { maxKeys: 4 }),
}));

const style = fc.record({
  eol: fc.constantFrom('\n', '\r\n'),
  unit: fc.constantFrom('  ', '\t', '    ', ''),
  oneLine: fc.boolean(),
  lastLine: fc.boolean(),
  /** Decides, at each place, whether there is a comment, a blank or a comma. */
  whims: fc.infiniteStream(fc.nat({ max: 9 })),
});

type Style = typeof style extends fc.Arbitrary<infer T> ? T : never;

/** JSON with comments, trailing commas, blank lines and any indentation. */
export const jsoncDocuments: fc.Arbitrary<WrittenDocument> = fc
  .tuple(fc.dictionary(key, json, { maxKeys: 4 }), style)
  .map(([value, how]) => {
    const maps: string[][] = [];
    const body = { 'mark-1': 'first-mark', ...value, 'mark-2': 'last-mark' };
    const written = writeJson(body, how, { indent: '', path: [], maps });
    const end = how.lastLine && !how.oneLine ? how.eol : '';
    return { text: `${written}${end}`, maps, marks: ['first-mark', 'last-mark'] };
  });

interface At {
  readonly indent: string;
  readonly path: readonly string[];
  readonly maps: string[][];
}

function writeJson(value: Value, how: Style, at: At): string {
  if (Array.isArray(value)) {
    const items = value.map((item: Value) => writeJson(item, how, { ...at, indent: at.indent + how.unit, path: [] }));
    return between('[', items, ']', how, at.indent);
  }
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  // Inside lists there is no path to a map.
  if (at.path.length > 0 || at.indent === '') at.maps.push([...at.path]);
  const members = Object.entries(value).map(([name, inner]) => {
    const path = at.path.length > 0 || at.indent === '' ? [...at.path, name] : [];
    const colon = whim(how) === 0 ? ' : ' : ': ';
    return `${JSON.stringify(name)}${colon}${writeJson(inner, how, { ...at, indent: at.indent + how.unit, path })}`;
  });
  return between('{', members, '}', how, at.indent);
}

function between(open: string, parts: readonly string[], close: string, how: Style, indent: string): string {
  const inner = indent + how.unit;
  const isApart = !how.oneLine && whim(how) > 2;
  if (parts.length === 0) {
    const odd = ['', '', '', ' ', `${how.eol}${indent}`, ' /* none */ '][whim(how)] ?? '';
    return `${open}${how.oneLine ? '' : odd}${close}`;
  }
  const lines = parts.map((part, index) => {
    const isLast = index === parts.length - 1;
    const comma = isLast && whim(how) > 1 ? '' : ',';
    const note = isApart ? ['', '', ` // note, "${index}"`, ' /* { */'][whim(how)] : ['', ' /* , */'][whim(how)];
    return `${part}${whim(how) === 0 && !isLast ? ' ' : ''}${comma}${note ?? ''}`;
  });
  if (!isApart) return `${open} ${lines.join(' ')} ${close}`;
  const blank = whim(how) === 0 ? how.eol : '';
  return `${open}${how.eol}${lines.map((line) => `${inner}${line}${how.eol}${blank}`).join('')}${indent}${close}`;
}

function whim({ whims }: Style): number {
  return whims.next().value ?? 9;
}

const bareKey = fc
  .stringMatching(/^[a-z][a-z0-9_-]{0,6}$/)
  .filter((name) => !['hub', 'off', 't', 'end', 'below', 'mcp_servers'].includes(name));
const tomlScalar = fc.oneof(
  text.map((each) => JSON.stringify(each).replaceAll('\x7f', '\\u007f')),
  fc.integer({ min: -1000, max: 1000 }).map(String),
  fc.constantFrom('true', 'false', "'literal # text'", '"""\nlines\n[no.table]\n"""', '1979-05-27', '[ 1, 2, ] # list'),
);
const pairs = fc.dictionary(bareKey, tomlScalar, { maxKeys: 4 });

/** TOML with comments, blank lines, inline tables and quoted keys. */
export const tomlDocuments: fc.Arbitrary<WrittenDocument> = fc
  .tuple(pairs, fc.dictionary(bareKey, pairs, { maxKeys: 4 }), fc.dictionary(bareKey, pairs, { maxKeys: 3 }), style)
  .map(([top, others, servers, how]) => {
    const lines = [
      'mark-1 = "first-mark"',
      ...pairLines(top, how),
      ...Object.entries(others).flatMap(([name, inner]) => tableLines(['t', name], inner, how)),
      ...Object.entries(servers).flatMap(([name, inner]) => tableLines(['mcp_servers', name], inner, how)),
      '[end]',
      'mark-2 = "last-mark"',
    ];
    const end = how.lastLine ? '\n' : '';
    const written = (lines.join('\n') + end).replaceAll('\n', how.eol);
    return {
      text: written,
      maps: Object.keys(servers).map((name) => ['mcp_servers', name]),
      marks: ['first-mark', 'last-mark'],
    };
  });

function tableLines(path: readonly [string, string], inner: Readonly<Record<string, string>>, how: Style): string[] {
  const [first, name] = path;
  const header = `${whim(how) < 3 ? '  ' : ''}[${first}.${whim(how) < 3 ? JSON.stringify(name) : name}]`;
  const note = whim(how) < 2 ? ' # its "header"' : '';
  const below = whim(how) < 3 ? [`[${first}.${name}.below]`, 'x = { y = 1, z.w = "2" } # inline'] : [];
  const before = whim(how) < 4 ? ['', '# about it'] : [];
  return [...before, header + note, ...pairLines(inner, how), ...below];
}

function pairLines(inner: Readonly<Record<string, string>>, how: Style): string[] {
  return Object.entries(inner).flatMap(([name, value]) => {
    const line = `${whim(how) < 3 ? `"${name}"` : name} ${whim(how) < 5 ? '=' : ' = '} ${value}`;
    return whim(how) < 3 ? [`# before`, line] : [line];
  });
}
