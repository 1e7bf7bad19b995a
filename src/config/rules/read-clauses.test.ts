import { expect, test } from 'vitest';
import { verifies } from '../../../test/support/verifies.ts';
import { type CallArguments, type Decision, decideOn } from '../../domain/index.ts';
import { compilePolicy } from '../../governance/index.ts';
import { onlyProblem, own } from '../workspace.fixture.ts';

const servers = 'servers: { hub: { url: "https://hub.example/mcp" } }\n';

async function decisionBy(rules: string): Promise<(args: CallArguments, labels?: readonly string[]) => Decision> {
  const configuration = await own(`${servers}policies:\n  tools:\n${rules.replaceAll(/^/gm, '    ')}\n`);
  expect(configuration.problems).toEqual([]);
  const listed = compilePolicy(configuration, ['dev']).decide('hub', 'act', 'hub_act', null);
  return (args, labels) => decideOn(listed, { args, ...(labels === undefined ? {} : { labels: new Set(labels) }) });
}

async function effect(condition: string, args: CallArguments, of: 'allow' | 'deny'): Promise<string> {
  const rule =
    of === 'allow'
      ? `hub.*: deny\nhub.act: { effect: allow, when: ${condition} }`
      : `hub.act: { effect: deny, when: ${condition} }`;
  return (await decisionBy(rule))(args).effect;
}

/** The condition, the arguments, what `allow … when` makes of them, and what `deny … when` does. */
const cases: readonly (readonly [string, CallArguments, 'allow' | 'deny', 'allow' | 'deny'])[] = [
  ['{ a: x }', { a: 'x' }, 'allow', 'deny'],
  ['{ a: x }', { a: 'y' }, 'deny', 'allow'],
  ['{ a: x }', {}, 'deny', 'allow'],
  ['{ a: x }', { a: null }, 'deny', 'allow'],
  ['{ a: x }', { a: ['x'] }, 'deny', 'deny'],
  ['{ a: 5 }', { a: '5' }, 'deny', 'deny'],
  ['{ a: true }', { a: 'true' }, 'deny', 'deny'],
  ['{ a: [x, y] }', { a: 'y' }, 'allow', 'deny'],
  ['{ a: { in: [x, 7] } }', { a: 7 }, 'allow', 'deny'],
  ['{ a: { in: [x] } }', { a: 'z' }, 'deny', 'allow'],
  ['{ a: { prefix: feature/ } }', { a: 'feature/x' }, 'allow', 'deny'],
  ['{ a: { prefix: feature/ } }', { a: 'main' }, 'deny', 'allow'],
  ['{ a: { glob: "v*.?" } }', { a: 'v1.2' }, 'allow', 'deny'],
  ['{ a: { regex: "^v[0-9]+$" } }', { a: 'v12' }, 'allow', 'deny'],
  ['{ a: { regex: "^v[0-9]+$" } }', { a: 'v12\nx' }, 'deny', 'allow'],
  ['{ a: { min: 1, max: 5 } }', { a: 5 }, 'allow', 'deny'],
  ['{ a: { min: 1, max: 5 } }', { a: 6 }, 'deny', 'allow'],
  ['{ a: { min: 1 } }', { a: '6' }, 'deny', 'deny'],
  ['{ a: { not: main } }', { a: 'dev' }, 'allow', 'deny'],
  ['{ a: { not: main } }', { a: 'main' }, 'deny', 'allow'],
  // A missing argument meets no condition, not even a negated one.
  ['{ a: { not: main } }', {}, 'deny', 'allow'],
  ['{ a: { not: { prefix: x } } }', { a: 5 }, 'deny', 'deny'],
  ['{ a: { prefix: x, not: { glob: "*y" } } }', { a: 'xz' }, 'allow', 'deny'],
  ['{ a.b: x }', { a: { b: 'x' } }, 'allow', 'deny'],
  ['{ a.b: x }', { a: {} }, 'deny', 'allow'],
  ['{ a.b: x }', { a: 'x' }, 'deny', 'deny'],
  // One that allows needs all items, one that denies needs one.
  ['{ a.*: x }', { a: ['x', 'x'] }, 'allow', 'deny'],
  ['{ a.*: x }', { a: ['x', 'y'] }, 'deny', 'deny'],
  ['{ a.*: x }', { a: ['y'] }, 'deny', 'allow'],
  ['{ a.*: x }', { a: [] }, 'deny', 'allow'],
  ['{ a.*: x }', { a: 'x' }, 'deny', 'deny'],
  ['{ a.*.b: x }', { a: [{ b: 'x' }, {}] }, 'deny', 'deny'],
  ['{ a: x, b: y }', { a: 'x', b: 'y' }, 'allow', 'deny'],
  ['{ a: x, b: y }', { a: 'x', b: 'z' }, 'deny', 'allow'],
  ['{ a: { inside: docs } }', { a: 'docs/x' }, 'allow', 'deny'],
  ['{ a: { inside: docs } }', { a: 'docs/../x' }, 'deny', 'allow'],
  ['{ a: { inside: docs } }', { a: '/docs/x' }, 'deny', 'deny'],
  ['{ a: { inside: docs } }', { a: 'docs/%2e%2e/x' }, 'deny', 'deny'],
];

test.each(cases)(
  verifies('policy:arguments', 'when %s with %j: an allow gives %s, a deny gives %s'),
  async (condition, args, allowed, denied) => {
    expect(await effect(condition, args, 'allow')).toBe(allowed);
    expect(await effect(condition, args, 'deny')).toBe(denied);
  },
);

test(verifies('policy:first-clause', 'a list is read from top to bottom'), async () => {
  const decide = await decisionBy(
    [
      'hub.act:',
      '  - { effect: deny, when: { branch: main }, message: Work on a branch. }',
      '  - { effect: allow, when: { branch: { prefix: feature/ } } }',
      '  - { effect: require-approval, approvers: [lead] }',
    ].join('\n'),
  );
  expect(decide({ branch: 'main' })).toMatchObject({
    effect: 'deny',
    reason: { pattern: 'hub.act', source: { line: 5 }, limits: 'when branch: "main"', message: 'Work on a branch.' },
  });
  expect(decide({ branch: 'feature/x' }).effect).toBe('allow');
  expect(decide({})).toMatchObject({ effect: 'ask', reason: { source: { line: 7 }, approvers: ['lead'] } });
  // What cannot be judged gets the strictest of what it might be.
  expect(decide({ branch: ['main'] }).effect).toBe('deny');
});

test('a clause for a label holds only where the run has it, and restricts where that is not known', async () => {
  const decide = await decisionBy('hub.act: { effect: deny, after: untrusted-content }');
  expect([decide({}, []).effect, decide({}, ['untrusted-content']).effect, decide({}).effect]).toEqual([
    'allow',
    'deny',
    'deny',
  ]);
});

test(verifies('policy:tool-class', 'a clause for a class restricts what may be of it'), async () => {
  const configuration = await own(
    `${servers}policies: { tools: { "hub.*": [{ effect: deny, kind: destructive }, { effect: require-approval, kind: write }] } }\n`,
  );
  const policy = compilePolicy(configuration, ['dev']);
  const decide = (readOnly: boolean | null, destructive: boolean | null) =>
    policy.decide('hub', 'act', 'hub_act', { readOnly, destructive }).effect;
  expect([decide(null, true), decide(null, null), decide(true, null)]).toEqual(['deny', 'ask', 'ask']);
});

test('destructive: ask is lifted by an exact rule', async () => {
  const configuration = await own(
    `${servers}policies: { destructive: ask, tools: { hub.wipe: allow, "hub.*": allow } }\n`,
  );
  const policy = compilePolicy(configuration, ['dev']);
  const decide = (tool: string) => policy.decide('hub', tool, tool, { readOnly: null, destructive: true }).effect;
  expect([decide('wipe'), decide('drop')]).toEqual(['allow', 'ask']);
});

test.each([
  ['hub.act: { effect: alow }', 'policies.tools.hub.act.effect'],
  ['hub.act: { effect: allow, wen: { a: x } }', 'policies.tools.hub.act.wen'],
  ['hub.act: { when: { a: x } }', 'policies.tools.hub.act.effect'],
  ['hub.act: { effect: allow, when: {} }', 'policies.tools.hub.act.when'],
  ['hub.act: []', 'policies.tools.hub.act'],
  ['hub.act: [deny]', 'policies.tools.hub.act'],
  ['hub.act: 5', 'policies.tools.hub.act'],
  ['hub.act: [{ effect: allow }, { effect: deny, kind: writes }]', 'policies.tools.hub.act.1.kind'],
  ['hub.act: { effect: allow, when: { a: { regex: "(?=x)" } } }', 'policies.tools.hub.act.when.a'],
  ['hub.act: { effect: allow, when: { a: {} } }', 'policies.tools.hub.act.when.a'],
  ['hub.act: { effect: allow, when: { a: { starts: x } } }', 'policies.tools.hub.act.when.a.starts'],
  ['hub.act: { effect: allow, when: { a: { not: { inside: ~/x } } } }', 'policies.tools.hub.act.when.a'],
  ['hub.act: { effect: allow, when: { a..b: x } }', 'policies.tools.hub.act.when.a..b'],
  ['hub.act: { effect: allow, when: { a: null } }', 'policies.tools.hub.act.when.a'],
  ['hub.act: { effect: allow, approvers: [lead] }', 'policies.tools.hub.act.approvers'],
])('%s is an error, and nothing is allowed', async (rule, field) => {
  const configuration = await own(`${servers}policies: { tools: { ${rule} } }\n`);
  expect(onlyProblem(configuration)).toMatchObject({ severity: 'error', line: 2, field });
  expect(compilePolicy(configuration, ['dev']).decide('hub', 'x', 'hub_x', null).effect).toBe('deny');
});

test('a section is tried with mode: shadow, or has rules to try beside its own', async () => {
  const read = async (policies: string) => {
    const configuration = await own(`${servers}policies: ${policies}\n`);
    const patternsOf = (rules: typeof configuration.policy) => rules?.rules.map(({ pattern }) => pattern);
    expect(configuration.problems).toEqual([]);
    return [patternsOf(configuration.policy), patternsOf(configuration.shadow)];
  };
  expect(await read('{ tools: { hub.act: deny } }')).toEqual([['hub.act'], undefined]);
  expect(await read('{ mode: enforce, tools: { hub.act: deny } }')).toEqual([['hub.act'], undefined]);
  expect(await read('{ mode: shadow, tools: { hub.act: deny }, destructive: ask }')).toEqual([
    undefined,
    ['hub.act', '*'],
  ]);
  expect(await read('{ tools: { hub.act: deny }, shadow: { tools: { hub.x: deny } } }')).toEqual([
    ['hub.act'],
    ['hub.x'],
  ]);
  // Without rules, it is tried what happens without the ones that are enforced.
  expect(await read('{ tools: { hub.act: deny }, shadow: {} }')).toEqual([['hub.act'], []]);
});

test.each([
  ['{ mode: shadwo, tools: { hub.act: deny } }', 'policies.mode'],
  ['{ mode: shadow, shadow: { tools: { hub.act: deny } } }', 'policies.shadow'],
  ['{ shadow: { tools: { hub.act: alow } } }', 'policies.shadow.tools.hub.act'],
  ['{ shadow: { tool: { hub.act: deny } } }', 'policies.shadow.tool'],
  [
    '{ shadow: { tools: { hub.act: { effect: deny, when: { a: { regex: "(" } } } } } }',
    'policies.shadow.tools.hub.act.when.a',
  ],
  ['{ shadow: }', 'policies.shadow'],
])('policies: %s is an error, and nothing is allowed', async (policies, field) => {
  const configuration = await own(`${servers}policies: ${policies}\n`);
  expect(onlyProblem(configuration)).toMatchObject({ severity: 'error', line: 2, field });
  expect(configuration.shadow).toBeUndefined();
  expect(compilePolicy(configuration, ['dev']).decide('hub', 'x', 'hub_x', null).effect).toBe('deny');
});
