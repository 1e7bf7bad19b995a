import { expect, test } from 'vitest';
import { type PolicyRule, RuleCondition } from '../../domain/index.ts';
import { draftConfiguration } from '../../governance/policy/configuration.fixture.ts';
import type { Judgement } from '../../trust/index.ts';
import { isSameEffect } from './same-effect.ts';

/** Every load compiles the conditions anew. */
function load(condition: string): Judgement {
  const source = { file: 'quartermaster.yaml', line: 1 };
  const compiled = new RuleCondition(condition, ({ args }) => String(args.path).startsWith(condition));
  const rule: PolicyRule = { pattern: 'files.write', effect: 'deny', source, condition: compiled };
  const configuration = draftConfiguration({ servers: { files: {} } });
  return {
    configuration: { ...configuration, policy: { source, rules: [rule] } },
    pending: [],
  } as unknown as Judgement;
}

test('a second load of the same conditions is no change', () => {
  expect(isSameEffect(load('/etc/'), load('/etc/'))).toBe(true);
});

test('another condition is a change', () => {
  expect(isSameEffect(load('/etc/'), load('/home/'))).toBe(false);
});
