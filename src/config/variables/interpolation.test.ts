// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables in configuration are written so.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { verifies } from '../../../test/support/verifies.ts';
import { bareShellGrammar, expand, type Lookup, literalGrammar, shellGrammar } from './interpolation.ts';

const values: Record<string, string> = { SET: 'yes', EMPTY: '', TOK: 'abc', TRICKY: '${SET} $${ } {' };
const lookup: Lookup = (name) => (Object.hasOwn(values, name) ? values[name] : undefined);

test.each([
  ['plain', 'plain'],
  ['', ''],
  ['${SET}', 'yes'],
  ['a${SET}b${SET}c', 'ayesbyesc'],
  ['${EMPTY}', ''],
  ['${NONE:-d}', 'd'],
  ['${NONE:-}', ''],
  ['${EMPTY:-d}', 'd'],
  ['${SET:-d}', 'yes'],
  ['${NONE:true}', 'true'],
  ['${SET:true}', 'yes'],
  ['${NONE:}', ''],
  ['${NONE:-http://x:80/a-b}', 'http://x:80/a-b'],
  ['${TOK:+Bearer ${TOK}}', 'Bearer abc'],
  ['${NONE:+Bearer ${NONE}}', ''],
  ['${EMPTY:+x}', ''],
  ['${NONE:-${OTHER:-${SET}}}', 'yes'],
  ['${NONE:-${SET}-${TOK}}', 'yes-abc'],
  ['${NONE:-{"a":{"b":1}}}', '{"a":{"b":1}}'],
  ['$${SET}', '${SET}'],
  ['$$${SET}', '$${SET}'],
  ['${NONE:-$${SET}}', '${SET}'],
  ['$SET $ $$ {SET} }', '$SET $ $$ {SET} }'],
  ['${TRICKY}', '${SET} $${ } {'],
])(verifies('variables:forms', '%s becomes %s'), (text, expected) => {
  const parsed = shellGrammar(text);
  if (parsed.kind === 'fault') throw new Error(parsed.message);
  expect(expand(parsed.parts, lookup)).toMatchObject({ value: expected, missing: [] });
});

test('every missing variable is named, also one inside a default', () => {
  const parsed = shellGrammar('${A} ${B:-${C}} ${D:+${E}} ${A}');
  if (parsed.kind === 'fault') throw new Error(parsed.message);
  expect(expand(parsed.parts, lookup).missing.map(({ name }) => name)).toEqual(['A', 'C']);
});

test('only variables whose value went into the text count as used', () => {
  const parsed = shellGrammar('${SET:+on} ${TOK} ${EMPTY} ${NONE:-d}');
  if (parsed.kind === 'fault') throw new Error(parsed.message);
  expect(expand(parsed.parts, lookup).used).toEqual(['TOK']);
});

test.each([
  ['${', 'no variable name'],
  ['${}', 'no variable name'],
  ['${1A}', 'no variable name'],
  ['${-x}', 'no variable name'],
  ['${SET', 'not closed'],
  ['${NONE:-${SET}', 'not closed'],
  ['${NONE:-{}', 'not closed'],
  ['${A B}', 'not closed'],
  ['${A-b}', 'not closed'],
  ['${A:?needed}', 'not supported'],
  ['${A:=x}', 'not supported'],
  ['${input:api-key}', '${input:api-key}'],
  ['${env:HOME}', '${env:HOME}'],
])('%s is refused', (text, reason) => {
  const parsed = shellGrammar(text);
  expect(parsed.kind).toBe('fault');
  if (parsed.kind === 'fault') expect(parsed.message).toContain(reason);
});

test('a variable that happens to be called env or input still takes a default', () => {
  expect(shellGrammar('${env:-x}${input:+y}${env}').kind).toBe('template');
});

test('a fault never repeats the text around the variable', () => {
  const parsed = shellGrammar('hunter2${ hunter2');
  expect(JSON.stringify(parsed)).not.toContain('hunter2');
});

test('endless nesting is refused instead of overflowing the stack', () => {
  expect(shellGrammar('${A:-'.repeat(200_000))).toMatchObject({ kind: 'fault' });
});

test('any text, once escaped, comes back as it was', () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom('$', '{', '}', 'A', ':', '-', '${', '$${', ' ')), (pieces) => {
      const text = pieces.join('');
      const parsed = shellGrammar(text.replaceAll('${', '$$${'));
      return parsed.kind === 'template' && expand(parsed.parts, lookup).value === text;
    }),
  );
});

const name = fc.stringMatching(/^V[A-Z0-9_]{0,5}$/);
const plain = fc.stringMatching(/^[a-z0-9 ./:@-]{0,8}$/);

/** Text together with what it must become, built from the meaning rather than by a second parser. */
interface Written {
  readonly source: string;
  readonly value: (env: Map<string, string>) => string;
}

const written = fc.letrec<{ text: Written }>((tie) => ({
  text: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    plain.map((source) => ({ source, value: () => source })),
    fc.tuple(tie('text'), tie('text')).map(([a, b]) => ({
      source: a.source + b.source,
      value: (env: Map<string, string>) => a.value(env) + b.value(env),
    })),
    fc.tuple(name, tie('text')).map(([variable, inner]) => ({
      source: `\${${variable}:-${inner.source}}`,
      value: (env: Map<string, string>) => env.get(variable) || inner.value(env),
    })),
    fc.tuple(name, tie('text')).map(([variable, inner]) => ({
      source: `\${${variable}:+${inner.source}}`,
      value: (env: Map<string, string>) => (env.get(variable) ? inner.value(env) : ''),
    })),
  ),
})).text;

test('nested text means what its parts mean, whatever the values hold', () => {
  fc.assert(
    fc.property(written, fc.dictionary(name, fc.string()), (text, env) => {
      const known = new Map(Object.entries(env));
      const parsed = shellGrammar(text.source);
      if (parsed.kind === 'fault') return false;
      const expansion = expand(parsed.parts, (variable) => known.get(variable));
      return expansion.value === text.value(known) && expansion.missing.length === 0;
    }),
  );
});

test('no text makes a grammar throw', () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom('${', '}', ':-', ':+', ':', 'A', '$', '{', 'input:', '?')), (pieces) => {
      for (const grammar of [shellGrammar, bareShellGrammar, literalGrammar]) {
        expect(['template', 'fault']).toContain(grammar(pieces.join('')).kind);
      }
    }),
  );
});

test.each([
  ['$SET', 'yes'],
  ['Bearer $TOK', 'Bearer abc'],
  ['$SET-$TOK.$SET', 'yes-abc.yes'],
  ['${SET}$TOK', 'yesabc'],
  ['${NONE:-$TOK}', 'abc'],
  ['$${SET} $', '${SET} $'],
  ['cd "$(pwd)" && echo $1 $? $$ 5$', 'cd "$(pwd)" && echo $1 $? $$ 5$'],
  ['$TRICKY', '${SET} $${ } {'],
])('with bare names, %s becomes %s', (text, expected) => {
  const parsed = bareShellGrammar(text);
  if (parsed.kind === 'fault') throw new Error(parsed.message);
  expect(expand(parsed.parts, lookup)).toMatchObject({ value: expected, missing: [] });
});

test('a bare name without a value is missing', () => {
  const parsed = bareShellGrammar('$NONE_1 ${OTHER}');
  if (parsed.kind === 'fault') throw new Error(parsed.message);
  expect(expand(parsed.parts, lookup).missing.map(({ name }) => name)).toEqual(['NONE_1', 'OTHER']);
});

test('a format without variables leaves every text as it is', () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      const parsed = literalGrammar(text);
      return parsed.kind === 'template' && expand(parsed.parts, lookup).value === text;
    }),
  );
  expect(literalGrammar('${SET}')).toEqual({ kind: 'template', parts: [{ kind: 'literal', text: '${SET}' }] });
});

test('text without a dollar sign is unchanged', () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      const plain = text.replaceAll('$', '');
      return [shellGrammar, bareShellGrammar].every((grammar) => {
        const parsed = grammar(plain);
        return parsed.kind === 'template' && expand(parsed.parts, lookup).value === plain;
      });
    }),
  );
});

test('secret text is told apart from what the file says', () => {
  const parts = [{ kind: 'literal', text: 'Bearer ' } as const, { kind: 'secret', text: 'hunter2' } as const];
  expect(expand(parts, lookup)).toEqual({ value: 'Bearer hunter2', missing: [], used: [], secrets: ['hunter2'] });
});
