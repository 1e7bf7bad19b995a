import fc from 'fast-check';
import { expect, test } from 'vitest';
import { verifies } from '../../../../test/support/verifies.ts';
import {
  type CallArguments,
  decideOn,
  type PolicyRule,
  RuleCondition,
  type RuleEffect,
} from '../../../domain/index.ts';
import { compilePolicy } from '../compile-policy.ts';
import { draftConfiguration, type PolicyDraft } from '../configuration.fixture.ts';

const inTmp = (args: CallArguments): boolean => String(args.path).startsWith('/tmp/');
const elsewhere = (args: CallArguments): boolean => !inTmp(args);

function decisionBy(policy: PolicyDraft, agent: PolicyDraft = {}) {
  const agents = { dev: { servers: ['files'], policy: agent } };
  const compiled = compilePolicy(draftConfiguration({ servers: { files: {} }, agents, policy }), ['dev']);
  return compiled.decide('files', 'write', 'files_write', null);
}

test(verifies('policy:conditions', 'a rule may look at the arguments, and the tool is listed if some may pass'), () => {
  const decision = decisionBy({ 'files.*': 'deny', 'files.write': { effect: 'allow', when: inTmp } });
  expect(decision.effect).toBe('allow');
  expect(decideOn(decision, { args: { path: '/tmp/a' } })).toMatchObject({
    effect: 'allow',
    reason: { pattern: 'files.write', source: { file: 'quartermaster.yaml', line: 2 } },
  });
  expect(decideOn(decision, { args: { path: '/etc/a' } })).toMatchObject({
    effect: 'deny',
    reason: { pattern: 'files.*', source: { file: 'quartermaster.yaml', line: 1 } },
  });
});

test('a rule without a match leaves the decision to the others', () => {
  const decision = decisionBy({ 'files.write': { effect: 'deny', when: elsewhere } });
  expect([decision.effect, decideOn(decision, { args: { path: '/tmp/a' } }).reason.kind]).toEqual(['allow', 'default']);
  expect(decideOn(decision, { args: {} }).effect).toBe('deny');
});

test('a tool that is denied whatever its arguments are has no condition', () => {
  expect(decisionBy({ 'files.write': 'deny', 'files.*': { effect: 'allow', when: inTmp } })).toEqual(
    decisionBy({ 'files.write': 'deny' }),
  );
});

test('a condition that throws never widens', () => {
  const fails = (): never => {
    throw new TypeError('a defect');
  };
  expect(decideOn(decisionBy({ 'files.write': { effect: 'deny', when: fails } }), { args: {} }).effect).toBe('deny');
  const lifted = decisionBy({ 'files.*': 'deny', 'files.write': { effect: 'allow', when: fails } });
  expect(decideOn(lifted, { args: {} }).effect).toBe('deny');
});

test('a reading has no arguments: a rule that looks at them holds if it restricts', () => {
  const when = (): boolean => false;
  const policy = { 'files.resource:memo://a': { effect: 'deny', when }, 'files.prompt:b': { effect: 'allow', when } };
  const configuration = draftConfiguration({
    servers: { files: {} },
    policy: { 'files.prompt:*': 'deny', ...(policy as PolicyDraft) },
  });
  const compiled = compilePolicy(configuration, ['dev']);
  expect(compiled.decideRead('files', 'resource:memo://a').effect).toBe('deny');
  expect(compiled.decideRead('files', 'prompt:b').effect).toBe('deny');
});

const effects = fc.constantFrom<RuleEffect>('allow', 'require-approval', 'deny');
/** Each condition looks at one flag of the arguments. */
const rules = fc.array(
  fc.tuple(fc.constantFrom('files.write', 'files.*', '*.write', 'files.w*'), effects, fc.option(fc.nat({ max: 2 }))),
  { maxLength: 6 },
);
const everyArguments = Array.from({ length: 8 }, (_, bits) => ({ flags: bits }));

function policyOf(drafts: readonly (readonly [string, RuleEffect, number | null])[], file: string) {
  const written = drafts.map(([pattern, effect, flag], index): PolicyRule => {
    const source = { file, line: index + 1 };
    if (flag === null) return { pattern, effect, source };
    const condition = new RuleCondition(`flag ${flag}`, ({ args }) => ((args.flags as number) & (1 << flag)) !== 0);
    return { pattern, effect, source, condition };
  });
  return { source: { file }, rules: written };
}

test(verifies('policy:conditions', 'list and call never disagree, and each call is decided as its rules say'), () => {
  fc.assert(
    fc.property(rules, rules, (everybody, own) => {
      const base = draftConfiguration({ servers: { files: {} }, agents: { dev: { servers: ['files'] } } });
      const [agent] = base.agents.values();
      if (agent === undefined) throw new Error('the configuration has an agent');
      const given = (args: CallArguments | undefined) => {
        const keep = ({ condition }: PolicyRule) => args === undefined || condition?.holds({ args }) !== false;
        const plain = ({ condition: _, ...rule }: PolicyRule): PolicyRule => rule;
        const narrowed = (drafts: typeof everybody, file: string) => {
          const policy = policyOf(drafts, file);
          return args === undefined ? policy : { ...policy, rules: policy.rules.filter(keep).map(plain) };
        };
        const agents = new Map([['dev', { ...agent, policy: narrowed(own, 'dev.yaml') }]]);
        const configuration = { ...base, agents, policy: narrowed(everybody, 'all.yaml') };
        return compilePolicy(configuration, ['dev']).decide('files', 'write', 'files_write', null);
      };
      const listed = given(undefined);
      for (const args of everyArguments) {
        const called = decideOn(listed, { args });
        // Decided as if only the rules were written that hold for these arguments.
        expect(called.effect).toBe(given(args).effect);
        if (listed.effect === 'deny') expect(called.effect).toBe('deny');
      }
    }),
    { numRuns: 500 },
  );
});
