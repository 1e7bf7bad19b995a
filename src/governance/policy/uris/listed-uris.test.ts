import { describe, expect, test } from 'vitest';
import { verifies } from '../../../../test/support/verifies.ts';
import { compilePolicy, createPolicyCompiler } from '../compile-policy.ts';
import { type ConfigurationDraft, draftConfiguration } from '../configuration.fixture.ts';
import { createListedUris } from './listed-uris.ts';
import type { ListedUri } from './read-subject.ts';
import type { UriForms } from './uri-forms.ts';

/** Each has as many normal forms as a URI may have. */
const hostile = (index: number): string => `x://u@h:80/r${index}/%41%42/../${'%2541%252e/./../'.repeat(100)}`;

describe('which settings need the normal forms of a listed URI', () => {
  const cases: readonly (readonly [string, ConfigurationDraft, boolean])[] = [
    ['no setting', { servers: { memo: {} } }, false],
    ['a rule on a tool', { servers: { memo: {} }, policy: { 'memo.write': 'deny' } }, false],
    ['a pattern for tools', { servers: { memo: {} }, policy: { 'memo.delete_*': 'deny' } }, false],
    ['a rule on another server', { servers: { memo: {} }, policy: { 'files.resource:*': 'deny' } }, false],
    ['a rule that allows', { servers: { memo: {} }, policy: { 'memo.resource:*': 'allow' } }, false],
    ['an exclude list of tools', { servers: { memo: { tools: { exclude: ['write', 'delete_*'] } } } }, false],
    ['an include list with everything', { servers: { memo: { tools: { include: ['*'] } } } }, false],
    ['a rule on the resource', { servers: { memo: {} }, policy: { 'memo.resource:y://a': 'deny' } }, true],
    ['a pattern for every server', { servers: { memo: {} }, policy: { '*.resource:y:*': 'deny' } }, true],
    ['a pattern that fits both', { servers: { memo: {} }, policy: { '*secret*': 'require-approval' } }, true],
    ['an exclude list', { servers: { memo: { tools: { exclude: ['*secret*'] } } } }, true],
    ['an include list', { servers: { memo: { tools: { include: ['resource:x://*'] } } } }, true],
  ];
  test.each(cases)('%s', (_, draft, isNeeded) => {
    let asked = 0;
    const policy = compilePolicy(draftConfiguration(draft), ['dev']);
    policy.decideRead('memo', 'resource:x://a', {
      problem: undefined,
      get forms() {
        asked++;
        return undefined;
      },
    });
    expect(asked > 0).toBe(isNeeded);
  });
});

test('a listed URI is decided like any other', () => {
  const uris = ['x://a/b', 'x://a/../secret', 'x://a%2F..%2Fsecret', 'x://a/\u0000', hostile(1), '%25252541', 'plain'];
  const listed = createListedUris(() => uris);
  const drafts: readonly ConfigurationDraft[] = [
    { servers: { memo: {} } },
    { servers: { memo: {} }, policy: { 'memo.resource:x://secret': 'deny' } },
    { servers: { memo: { tools: { include: ['resource:x://a/*', 'resource:plain'] } } } },
    { servers: { memo: {} }, agents: { dev: { tools: { memo: { exclude: ['*secret*'] } } } } },
  ];
  for (const draft of drafts) {
    const policy = compilePolicy(draftConfiguration(draft), ['dev']);
    for (const uri of uris) {
      const subject = `resource:${uri}`;
      expect(policy.decideRead('memo', subject, listed.of(uri))).toEqual(policy.decideRead('memo', subject));
    }
  }
});

test('rules are compared with the forms of a listed URI once for all agents', () => {
  let compared = 0;
  const forms: UriForms = {
    exact: ['x:/a'],
    get loose() {
      compared++;
      return ['x:/a'];
    },
    isComplete: true,
    spellings: () => [],
  };
  const uri: ListedUri = { problem: undefined, forms };
  const compile = createPolicyCompiler(
    draftConfiguration({
      servers: { memo: { tools: { exclude: ['resource:y:*'] } } },
      policy: { 'memo.resource:z:*': 'deny' },
    }),
  );
  const decide = (agent: string) => compile([agent]).decideRead('memo', 'resource:x://a', uri).effect;
  expect(decide('one')).toBe('allow');
  const first = compared;
  expect(first).toBeGreaterThan(0);
  for (let index = 0; index < 20; index++) expect(decide(`agent-${index}`)).toBe('allow');
  expect(compared).toBe(first);
});

test(verifies('cost:linear', 'the URIs of one server share the work for their lists'), () => {
  const uris = [...Array.from({ length: 1500 }, (_, index) => hostile(index)), 'x://last'];
  const listed = createListedUris(() => uris);
  const known = uris.filter((uri) => listed.of(uri)?.forms !== undefined);
  expect(known).toEqual(uris.slice(0, known.length));
  expect(known.length).toBeGreaterThan(20);
  expect(known.length).toBeLessThan(300);
  // Beyond that, a URI is left out where a rule or list needs its forms.
  const draft: ConfigurationDraft = { servers: { memo: {} }, policy: { 'memo.resource:y:*': 'deny' } };
  const policy = compilePolicy(draftConfiguration(draft), ['dev']);
  const decision = policy.decideRead('memo', 'resource:x://last', listed.of('x://last'));
  expect(decision).toEqual({ effect: 'deny', reason: { kind: 'unsafe-uri', problem: 'too-much-work' } });
  expect(policy.decideRead('memo', 'resource:x://last').effect).toBe('allow');
});

test('ten thousand ordinary URIs are all compared', () => {
  const uris = Array.from(
    { length: 10_000 },
    (_, index) => `file:///home/someone/documents/project%20${index}/some%20folder/a%20file%20with%20a%20name.txt`,
  );
  const listed = createListedUris(() => uris);
  expect(uris.every((uri) => listed.of(uri)?.problem === undefined)).toBe(true);
  expect(uris.every((uri) => listed.of(uri)?.forms !== undefined)).toBe(true);
});
