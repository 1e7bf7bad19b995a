import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { PolicyRule, RuleEffect } from '../../domain/index.ts';
import { compilePolicy } from './compile-policy.ts';
import { draftConfiguration } from './configuration.fixture.ts';

const source = { file: 'opencode.json', line: 1 };

function policyWith(prefix: string, written: readonly (readonly [string, RuleEffect])[]) {
  const rules = written.map(([pattern, effect]): PolicyRule => ({ pattern, effect, source }));
  const restriction = { source, tools: {}, access: undefined, rules: { prefix, rules, agents: new Map() } };
  return compilePolicy(draftConfiguration({ servers: { a: { restrictedBy: [restriction] } } }), ['dev']);
}

test.each([
  ['oc_', 'oc_read', 'read', 'read_then_delete_oc_read'],
  ['', 'get', 'get', 'get_budget_get'],
  ['', 'set', 'set', 'setset'],
])('with prefix %j an exact rule "%s" allows %s and not %s', (prefix, pattern, tool, other) => {
  const policy = policyWith(prefix, [
    [`${prefix}*`, 'deny'],
    [pattern, 'allow'],
  ]);
  expect(policy.decide('a', tool, tool, null).effect).toBe('allow');
  expect(policy.decide('a', other, other, null).effect).toBe('deny');
  expect(policy.decideRead('a', `prompt:${tool}`).effect).toBe('deny');
});

test('an exact rule fits only itself', () => {
  const name = fc.string({ unit: fc.constantFrom('a', 'b', '_'), minLength: 1, maxLength: 4 });
  // Names that begin and end with the rule are the ones that a pattern would let through.
  const longer = fc.tuple(name, name).map(([rule, middle]) => [rule, `${rule}${middle}${rule}`] as const);
  let others = 0;
  fc.assert(
    fc.property(fc.oneof(longer, fc.tuple(name, name)), fc.constantFrom('', 'oc_'), ([rule, tool], prefix) => {
      const policy = policyWith(prefix, [
        ['*', 'require-approval'],
        [prefix + rule, 'allow'],
      ]);
      if (rule !== tool) others++;
      expect(policy.decide('a', tool, tool, null).effect).toBe(rule === tool ? 'allow' : 'ask');
      const denied = policyWith(prefix, [[prefix + rule, 'deny']]);
      expect(denied.decide('a', tool, tool, null).effect).toBe(rule === tool ? 'deny' : 'allow');
    }),
  );
  expect(others).toBeGreaterThan(50);
});
