import fc from 'fast-check';
import { expect, test } from 'vitest';
import { verifies } from '../../../test/support/verifies.ts';
import {
  type AnyCall,
  type AnyPolicy,
  type AnyRules,
  calls,
  configurationOf,
  type Decided,
  decideAny,
  denyClauses,
  enforced,
  patterns,
  policies,
  rulePlaces,
  strictnessOf,
} from './any-policy.fixture.ts';

async function decide(policy: AnyPolicy, call: AnyCall): Promise<Decided> {
  const configuration = await configurationOf(enforced(policy));
  expect(configuration.problems).toEqual([]);
  return decideAny(configuration, call);
}

test(verifies('view:list-is-call', 'no call gets more than the list says'), async () => {
  await fc.assert(
    fc.asyncProperty(policies, calls, async (policy, call) => {
      const { listed, called } = await decide(policy, call);
      expect(strictnessOf(called)).toBeGreaterThanOrEqual(strictnessOf(listed));
      // A tool that is denied whatever the arguments are is hidden; a call never finds it.
      if (listed.effect === 'deny') expect(called).toBe(listed);
    }),
    { numRuns: 400 },
  );
});

const additions = fc.record({
  place: fc.constantFrom(...rulePlaces),
  pattern: patterns,
  clause: fc.oneof(fc.constant({ effect: 'deny' }), denyClauses),
  at: fc.nat({ max: 3 }),
});

/** A new rule, or one more clause in the list that is there. */
function withDeny(rules: AnyRules, { pattern, clause, at }: { pattern: string; clause: object; at: number }): AnyRules {
  const there = rules[pattern];
  if (there === undefined) return { ...rules, [pattern]: Object.keys(clause).length === 1 ? 'deny' : clause };
  const list = Array.isArray(there) ? there : [typeof there === 'string' ? { effect: there } : there];
  return { ...rules, [pattern]: list.toSpliced(at, 0, clause) };
}

test(verifies('rules:deny-narrows', 'a deny in any form at any place never widens'), async () => {
  await fc.assert(
    fc.asyncProperty(policies, additions, calls, async (policy, addition, call) => {
      const before = await decide(policy, call);
      const changed = { ...policy, [addition.place]: withDeny(policy[addition.place], addition) };
      const after = await decide(changed, call);
      expect(strictnessOf(after.called)).toBeGreaterThanOrEqual(strictnessOf(before.called));
      expect(strictnessOf(after.listed)).toBeGreaterThanOrEqual(strictnessOf(before.listed));
    }),
    { numRuns: 400 },
  );
});

/** Keys and values that mean nothing, wherever a rule has them. The names of arguments are free, so they stay. */
const strangeKeys = fc.constantFrom('efect', 'When', 'unless', 'kinds', 'globs', '$ne', 'or');
const strangeValues = fc.constantFrom(null, {}, [], [[]], { '': null }, [null]);
const strangeWords = fc.constantFrom('', 'permit', 'Deny', -0.5, true);

interface Mutation {
  readonly step: number;
  readonly key: string;
  readonly value: unknown;
  readonly word: unknown;
  readonly kind: 'key' | 'value' | 'word';
}

const mutations: fc.Arbitrary<Mutation> = fc.record({
  step: fc.nat({ max: 60 }),
  key: strangeKeys,
  value: strangeValues,
  word: strangeWords,
  kind: fc.constantFrom('key', 'value', 'word'),
});

type Path = readonly string[];

/** Every member below `tools`. */
function* membersOf(value: unknown, path: Path = []): Generator<Path> {
  if (typeof value !== 'object' || value === null) return;
  for (const [key, member] of Object.entries(value)) {
    if (path.includes('tools')) yield [...path, key];
    yield* membersOf(member, [...path, key]);
  }
}

const fits: Readonly<Record<Mutation['kind'], (path: Path) => boolean>> = {
  key: (path) => path.at(-2) !== 'when' && !/^\d$/.test(path.at(-1) ?? ''),
  value: () => true,
  // Elsewhere, a text or number is a condition, or the name of a label.
  word: (path) => ['effect', 'kind'].includes(path.at(-1) ?? '') || path.at(-2) === 'tools',
};

function mutated(value: unknown, [key = '', ...rest]: Path, mutation: Mutation): unknown {
  const isThere = rest.length === 0;
  const inner = (member: unknown): unknown => (isThere ? mutation[mutation.kind] : mutated(member, rest, mutation));
  if (Array.isArray(value)) return value.map((each, index) => (String(index) === key ? inner(each) : each));
  const entries = Object.entries(value as object); // the path was found in it
  return Object.fromEntries(
    entries.map(([name, member]) => {
      if (name !== key) return [name, member];
      return isThere && mutation.kind === 'key' ? [mutation.key, member] : [name, inner(member)];
    }),
  );
}

test(verifies('rules:unknown-form', 'a rule that is not understood is an error, and nothing is allowed'), async () => {
  await fc.assert(
    fc.asyncProperty(policies, mutations, calls, async (policy, mutation, call) => {
      const document = enforced(policy);
      const members = [...membersOf(document)].filter(fits[mutation.kind]);
      const path = members[mutation.step % Math.max(1, members.length)];
      fc.pre(path !== undefined);
      const configuration = await configurationOf(mutated(document, path, mutation));
      expect(configuration.problems.map(({ severity }) => severity)).toContain('error');
      // The rules of all three places apply to dev. A mistake in one entry does not affect the agents of others.
      expect(decideAny(configuration, { ...call, chain: ['dev'] }).called.effect).toBe('deny');
      const before = decideAny(await configurationOf(document), call);
      expect(strictnessOf(decideAny(configuration, call).called)).toBeGreaterThanOrEqual(strictnessOf(before.called));
    }),
    { numRuns: 400 },
  );
});
