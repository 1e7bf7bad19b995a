import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { verifies } from '../../../test/support/verifies.ts';
import {
  compileWildcard,
  type Decision,
  matchesWildcard,
  type RuleEffect,
  type ToolFilter,
} from '../../domain/index.ts';
import { type AgentPolicy, compilePolicy, createPolicyCompiler } from './compile-policy.ts';
import { type AgentDraft, draftConfiguration } from './configuration.fixture.ts';

const strictness: Readonly<Record<Decision['effect'], number>> = { allow: 0, ask: 1, deny: 2 };

function ask(policy: AgentPolicy, server: string, tool: string): Decision {
  return policy.decide(server, tool, `${server}_${tool}`, null);
}

describe('routing', () => {
  const servers = { files: {}, clock: { shared: true }, off: { enabled: false, shared: true } };

  test('where nothing routes, anybody sees every enabled server', () => {
    const policy = compilePolicy(draftConfiguration({ servers, agents: { tester: {} } }), ['stranger']);
    expect(['files', 'clock', 'off', 'unknown'].map(policy.seesServer)).toEqual([true, true, false, false]);
    expect(ask(policy, 'files', 'read')).toEqual({ effect: 'allow', reason: { kind: 'default' } });
  });

  test(verifies('view:routing', 'where anything routes, the others get shared servers only'), () => {
    const configuration = draftConfiguration({ servers, agents: { tester: { servers: ['files'] }, scribe: {} } });
    const seen = (...chain: string[]) => ['files', 'clock'].map(compilePolicy(configuration, chain).seesServer);
    expect(seen('tester')).toEqual([true, true]);
    expect(seen('scribe')).toEqual([false, true]);
    expect(seen('stranger')).toEqual([false, true]);
    expect(ask(compilePolicy(configuration, ['scribe']), 'files', 'read')).toEqual({
      effect: 'deny',
      reason: { kind: 'not-routed', agent: 'scribe' },
    });
  });

  test('an empty route is a route', () => {
    const configuration = draftConfiguration({ servers, agents: { tester: { servers: [] } } });
    expect(compilePolicy(configuration, ['tester']).seesServer('files')).toBe(false);
  });

  test('a switched-off or invalid server is seen by nobody, even where a route names it', () => {
    const configuration = draftConfiguration({ servers, agents: { tester: { servers: ['off', 'broken'] } } });
    const servers2 = new Map(configuration.servers).set('broken', {
      kind: 'invalid',
      name: 'broken',
      source: { file: 'x' },
      hides: [],
      problems: [],
    });
    const policy = compilePolicy({ ...configuration, servers: servers2 }, ['tester']);
    expect(['off', 'broken'].map(policy.seesServer)).toEqual([false, false]);
  });

  test('every agent of the chain must see the server', () => {
    const agents = { child: { servers: ['files'] }, parent: { servers: ['clock'] } };
    const policy = compilePolicy(draftConfiguration({ servers, agents }), ['child', 'parent']);
    expect(ask(policy, 'files', 'read').reason).toEqual({ kind: 'not-routed', agent: 'parent' });
    expect(policy.seesServer('clock')).toBe(true);
  });

  test('nobody has no rights', () => {
    const policy = compilePolicy(draftConfiguration({ servers }), []);
    expect(policy.seesServer('clock')).toBe(false);
    expect(ask(policy, 'clock', 'now').effect).toBe('deny');
  });
});

describe('filters', () => {
  const decideWith = (server: ToolFilter, agent: ToolFilter | undefined, tool: string): Decision => {
    const tools = agent === undefined ? {} : { files: agent };
    return ask(
      compilePolicy(draftConfiguration({ servers: { files: { tools: server } }, agents: { tester: { tools } } }), [
        'tester',
      ]),
      'files',
      tool,
    );
  };

  test.each([
    ['nothing said', {}, 'allow'],
    ['a star', { include: ['*'] }, 'allow'],
    ['an empty list', { include: [] }, 'deny'],
    ['the raw name', { include: ['read_file'] }, 'allow'],
    ['the name with underscore', { include: ['files_read_file'] }, 'allow'],
    ['the name with dot', { include: ['files.read_file'] }, 'allow'],
    ['a pattern', { include: ['read_*'] }, 'allow'],
    ['a pattern over the server', { include: ['files.*'] }, 'allow'],
    ['another name', { include: ['read'] }, 'deny'],
    ['another case', { include: ['Read_File'] }, 'deny'],
    ['exclude beats include', { include: ['*'], exclude: ['read_file'] }, 'deny'],
    ['exclude by namespaced name', { exclude: ['files_read_file'] }, 'deny'],
    ['exclude by pattern', { exclude: ['*_file'] }, 'deny'],
    ['exclude of everything', { exclude: ['*'] }, 'deny'],
    ['exclude of another tool', { exclude: ['write_file'] }, 'allow'],
  ] as const)('%s', (_what, filter, effect) => {
    expect(decideWith(filter, undefined, 'read_file').effect).toBe(effect);
    expect(decideWith({}, filter, 'read_file').effect).toBe(effect);
  });

  test('the name that agents see counts too, for instance a shortened one', () => {
    const configuration = draftConfiguration({
      servers: { files: { tools: { include: ['files_a-very-long_1a2b'] } } },
    });
    const policy = compilePolicy(configuration, ['tester']);
    expect(policy.decide('files', 'a-very-long-name', 'files_a-very-long_1a2b', null).effect).toBe('allow');
    expect(policy.decide('files', 'a-very-long-name', 'files_other', null).effect).toBe('deny');
  });

  test('both levels apply, and the reason says which one refused', () => {
    expect(decideWith({ include: ['read_file'] }, { include: ['write_file'] }, 'read_file').reason).toEqual({
      kind: 'not-included',
      by: 'agent tester',
      source: { file: 'agents.yaml', line: 7 },
    });
    expect(decideWith({ exclude: ['read_file'] }, { include: ['read_file'] }, 'read_file').reason).toEqual({
      kind: 'excluded',
      by: 'server files',
      source: { file: 'files.json', line: 3 },
    });
  });
});

describe('rules', () => {
  const servers = { acme: {}, 'acme.eu': {}, files: {} };
  const decide = (rules: Readonly<Record<string, RuleEffect>>, server: string, tool: string): Decision =>
    ask(compilePolicy(draftConfiguration({ servers, policy: rules }), ['tester']), server, tool);

  test(verifies('view:precedence', 'an exact key beats patterns in the same map'), () => {
    expect(decide({ '*': 'deny', 'files.read': 'allow' }, 'files', 'read')).toEqual({
      effect: 'allow',
      reason: { kind: 'rule', pattern: 'files.read', source: { file: 'quartermaster.yaml', line: 2 } },
    });
    expect(decide({ '*': 'deny', 'files.read': 'allow' }, 'files', 'write').effect).toBe('deny');
  });

  test('among patterns the strictest wins, whatever the order', () => {
    expect(decide({ 'files.*': 'allow', 'files.r*': 'require-approval' }, 'files', 'read').effect).toBe('ask');
    expect(decide({ '*.read': 'deny', 'files.r*': 'require-approval' }, 'files', 'read').effect).toBe('deny');
    expect(decide({ 'files.r*': 'require-approval', '*.read': 'deny' }, 'files', 'read').effect).toBe('deny');
  });

  test('the first of equally strict patterns is named', () => {
    expect(decide({ '*.read': 'deny', 'files.*': 'deny', '*': 'deny' }, 'files', 'read').reason).toMatchObject({
      pattern: '*.read',
    });
  });

  test('a star reaches over dots', () => {
    expect(decide({ 'acme*list': 'deny' }, 'acme.eu', 'list').effect).toBe('deny');
    expect(decide({ 'acme.*': 'deny' }, 'acme.eu', 'list').effect).toBe('deny');
  });

  test('characters that mean something to a RegExp mean themselves', () => {
    expect(decide({ 'files.(r|w)*+': 'deny' }, 'files', '(r|w)ead+').effect).toBe('deny');
    expect(decide({ 'files.[a-z]*': 'deny' }, 'files', 'read').effect).toBe('allow');
    expect(decide({ 'filesXread*': 'deny' }, 'files', 'read').effect).toBe('allow');
  });

  test('an exact key that fits tools of two servers restricts both and allows neither', () => {
    for (const [server, tool] of [
      ['acme.eu', 'list'],
      ['acme', 'eu.list'],
    ] as const) {
      expect(decide({ 'acme.eu.list': 'deny' }, server, tool).effect).toBe('deny');
      expect(decide({ 'acme.eu.list': 'require-approval' }, server, tool).effect).toBe('ask');
      expect(decide({ 'acme.eu.list': 'allow', '*.list': 'deny' }, server, tool).effect).toBe('deny');
      expect(decide({ 'acme.eu.list': 'require-approval', '*.list': 'deny' }, server, tool).effect).toBe('deny');
    }
  });

  test('no server that is added later lifts what a rule says of another', () => {
    const effects = fc.constantFrom<RuleEffect>('allow', 'require-approval', 'deny');
    const order = { allow: 0, ask: 1, deny: 2 };
    const name = fc.array(fc.constantFrom('a', 'b'), { minLength: 2, maxLength: 4 });
    const cuts = fc.tuple(fc.nat(), fc.nat());
    let restricted = 0;
    fc.assert(
      fc.property(name, cuts, effects, effects, (parts, [one, other], exact, wide) => {
        // Both servers are beginnings of the name that the rule has.
        const cut = (at: number): string => parts.slice(0, 1 + (at % (parts.length - 1))).join('.');
        const [server, added, text] = [cut(one), cut(other), parts.join('.')];
        for (const subject of [text.slice(server.length + 1), `resource:${text}`]) {
          const policy = { [`${server}.${subject}`]: exact, '*': wide };
          const effectWith = (names: readonly string[]): Decision['effect'] => {
            const servers = Object.fromEntries(names.map((each) => [each, {}]));
            const compiled = compilePolicy(draftConfiguration({ servers, policy }), ['dev']);
            if (subject.startsWith('resource:')) return compiled.decideRead(server, subject, () => []).effect;
            return ask(compiled, server, subject).effect;
          };
          const was = effectWith([server]);
          if (was !== 'allow') restricted++;
          expect(order[effectWith([server, added])]).toBeGreaterThanOrEqual(order[was]);
        }
      }),
      { numRuns: 500 },
    );
    expect(restricted).toBeGreaterThan(100);
  });

  test(verifies('view:precedence', 'across sources deny beats ask beats allow'), () => {
    const configurationOf = (everybody: RuleEffect, own: RuleEffect) =>
      draftConfiguration({
        servers,
        policy: { 'files.read': everybody },
        agents: { tester: { policy: { 'files.read': own } } },
      });
    const effect = (everybody: RuleEffect, own: RuleEffect) =>
      ask(compilePolicy(configurationOf(everybody, own), ['tester']), 'files', 'read').effect;
    expect(effect('allow', 'deny')).toBe('deny');
    expect(effect('deny', 'allow')).toBe('deny');
    expect(effect('require-approval', 'allow')).toBe('ask');
    expect(effect('allow', 'require-approval')).toBe('ask');
    expect(effect('allow', 'allow')).toBe('allow');
  });

  test("an agent's own pattern is not lifted by an exact key of another source", () => {
    const agents = { tester: { policy: { 'files.*': 'deny' } } } as const;
    const policy = compilePolicy(draftConfiguration({ servers, policy: { 'files.read': 'allow' }, agents }), [
      'tester',
    ]);
    expect(ask(policy, 'files', 'read')).toEqual({
      effect: 'deny',
      reason: { kind: 'rule', pattern: 'files.*', source: { file: 'agents.yaml', line: 1 }, agent: 'tester' },
    });
  });
});

test('ten thousand mixed rules decide like trying each of them', () => {
  const effects = ['allow', 'require-approval', 'deny'] as const;
  const written = Array.from({ length: 10_000 }, (_, i): [string, RuleEffect] => {
    const pattern = [`files.tool_${i}`, `files.tool_${i}*`, `files.*_${i}`, `*_${i}_*`][i % 4] ?? '';
    return [pattern, effects[i % 3] ?? 'deny'];
  });
  const policy = compilePolicy(draftConfiguration({ servers: { files: {} }, policy: Object.fromEntries(written) }), [
    'tester',
  ]);
  const seen = new Set<string>();
  for (let i = 0; i < 1000; i += 29) {
    const subject = `files.tool_${i}`;
    const patterns = written.filter(([key]) => key.includes('*') && matchesWildcard(compileWildcard(key), subject));
    const exact = written.find(([key]) => key === subject);
    const ranks = (exact === undefined ? patterns : [exact]).map(([, effect]) => effects.indexOf(effect));
    const expected = (['allow', 'ask', 'deny'] as const)[Math.max(0, ...ranks)];
    expect([subject, ask(policy, 'files', `tool_${i}`).effect]).toEqual([subject, expected]);
    seen.add(expected ?? '');
  }
  expect(seen.size).toBe(3);
});

const names = fc.constantFrom('read', 'write', 'files_read', '*', 'r*', 'files.*');
const filters: fc.Arbitrary<ToolFilter> = fc.record(
  { include: fc.array(names, { maxLength: 2 }), exclude: fc.array(names, { maxLength: 1 }) },
  { requiredKeys: [] },
);
const policies = fc.dictionary(
  fc.constantFrom('files.read', 'files.*', '*', '*.write', 'git.read'),
  fc.constantFrom<RuleEffect>('allow', 'require-approval', 'deny'),
  { maxKeys: 3 },
);
const agentDrafts: fc.Arbitrary<AgentDraft> = fc.record(
  {
    servers: fc.subarray(['files', 'git']),
    tools: fc.record({ files: filters, git: filters }, { requiredKeys: [] }),
    policy: policies,
  },
  { requiredKeys: [] },
);

test(verifies('token:intersection', 'a child never has more than its parent, nor more than itself alone'), () => {
  fc.assert(
    fc.property(agentDrafts, agentDrafts, policies, filters, fc.boolean(), (child, parent, policy, tools, shared) => {
      const compile = createPolicyCompiler(
        draftConfiguration({ servers: { files: { tools, shared }, git: {} }, agents: { child, parent }, policy }),
      );
      const [both, childAlone, parentAlone] = [['child', 'parent'], ['child'], ['parent']].map(compile);
      if (both === undefined || childAlone === undefined || parentAlone === undefined) throw new Error('three chains');
      for (const server of ['files', 'git']) {
        expect(both.seesServer(server)).toBe(childAlone.seesServer(server) && parentAlone.seesServer(server));
        for (const tool of ['read', 'write']) {
          const [together, one, other] = [both, childAlone, parentAlone].map(
            (each) => strictness[ask(each, server, tool).effect],
          );
          expect(together).toBe(Math.max(one ?? 0, other ?? 0));
        }
      }
    }),
    { numRuns: 500 },
  );
});
