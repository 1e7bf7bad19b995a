import { expect, test } from 'vitest';
import { verifies } from '../../../../test/support/verifies.ts';
import { decideOn } from '../../../domain/index.ts';
import { compilePolicy } from '../compile-policy.ts';
import { draftConfiguration, type PolicyDraft } from '../configuration.fixture.ts';

/** How many conditions a call is compared with. */
function conditionsPerCall(others: number, own: (when: () => boolean) => PolicyDraft): number {
  let count = 0;
  const when = (): boolean => {
    count++;
    return false;
  };
  const many = (pattern: (index: number) => string): PolicyDraft =>
    Object.fromEntries(Array.from({ length: others }, (_, index) => [pattern(index), { effect: 'deny', when }]));
  const policy = {
    ...many((index) => `files.tool_${index}`),
    ...many((index) => `server_${index}.*`),
    ...many((index) => `files.write_${index}*`),
    ...many((index) => `*.of_${index}`),
    ...own(when),
  };
  const agents = { dev: { servers: ['files'], policy: many((index) => `files.read_${index}`) } };
  const compiled = compilePolicy(draftConfiguration({ servers: { files: {} }, agents, policy }), ['dev']);
  const decision = compiled.decide('files', 'write', 'files_write', null);
  decideOn(decision, { args: {} });
  return count;
}

test(verifies('rules:flat-cost', 'rules on other tools cost a call nothing'), () => {
  const own = (when: () => boolean): PolicyDraft => ({
    'files.write': { effect: 'deny', when },
    'files.*': { effect: 'deny', when },
  });
  for (const others of [10, 100, 10_000]) {
    expect(conditionsPerCall(others, own)).toBe(2);
    expect(conditionsPerCall(others, () => ({}))).toBe(0);
  }
});

test('patterns are not compared where an exact rule applies', () => {
  let count = 0;
  const when = (): boolean => {
    count++;
    return true;
  };
  const policy: PolicyDraft = {
    'files.*': { effect: 'deny', when },
    '*': { effect: 'deny', when },
    'files.write': { effect: 'require-approval', when },
  };
  const compiled = compilePolicy(draftConfiguration({ servers: { files: {} }, policy }), ['dev']);
  expect(decideOn(compiled.decide('files', 'write', 'files_write', null), { args: {} }).effect).toBe('ask');
  expect(count).toBe(1);
});
