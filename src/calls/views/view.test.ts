import fc from 'fast-check';
import { expect, test } from 'vitest';
import { verifies } from '../../../test/support/verifies.ts';
import { onlyTools, type RuleEffect } from '../../domain/index.ts';
import { compilePolicy } from '../../governance/index.ts';
import {
  type AgentDraft,
  type ConfigurationDraft,
  type ConfiguredServerDraft,
  draftConfiguration,
} from '../../governance/policy/configuration.fixture.ts';
import { statusToolName } from '../availability/status-tool.ts';
import { handlesOf, sourceOf } from '../scripted-server.fixture.ts';
import { buildView, type View } from './view.ts';

const serverNames = ['a', 'a_b', 'a.b', 'web'];
const toolNames = ['read', 'write', 'b_read', 'a_read', 'b.read', 'ö'];
const agentNames = ['dev', 'ops'];

const effect = fc.constantFrom<RuleEffect>('allow', 'require-approval', 'deny');
const pattern = fc.oneof(
  fc.tuple(fc.constantFrom(...serverNames), fc.constantFrom(...toolNames, '*', 'r*')).map(([s, t]) => `${s}.${t}`),
  fc.constantFrom('*', '*.read', 'a*'),
);
const policy = fc.option(fc.dictionary(pattern, effect, { maxKeys: 4 }), { nil: undefined });
const names = fc.array(fc.constantFrom(...toolNames, 'a_write', '*'), { maxLength: 3 });
const filter = fc.record({ include: names, exclude: names }, { requiredKeys: [] });
const server: fc.Arbitrary<ConfiguredServerDraft> = fc.record(
  { enabled: fc.boolean(), shared: fc.boolean(), tools: filter },
  { requiredKeys: [] },
);
const agent: fc.Arbitrary<AgentDraft> = fc
  .record({
    servers: fc.option(fc.subarray(serverNames), { nil: undefined }),
    policy,
    filters: fc.dictionary(fc.constantFrom(...serverNames), filter),
  })
  .map(({ filters, policy, ...rest }) => ({ ...rest, tools: filters, ...(policy === undefined ? {} : { policy }) }));
const configurations: fc.Arbitrary<ConfigurationDraft> = fc
  .record({
    servers: fc.dictionary(fc.constantFrom(...serverNames), server, { minKeys: 1 }),
    agents: fc.dictionary(fc.constantFrom(...agentNames), agent),
    policy,
  })
  .map(({ policy, ...rest }) => (policy === undefined ? rest : { ...rest, policy }));
const catalogs = fc.dictionary(fc.constantFrom(...serverNames), fc.subarray(toolNames));
const chains = fc.subarray([...agentNames, 'stranger'], { minLength: 1 });

test(verifies('view:list-is-call', 'a tool is listed exactly when it can be called, under the same name'), () => {
  fc.assert(
    fc.property(configurations, catalogs, chains, (draft, offered, chain) => {
      const { view } = viewOf(draft, offered, chain);
      const own = view.undiscovered.length > 0 ? [statusToolName] : [];
      expect(listed(view)).toEqual([...view.entries.keys(), ...own]);
      for (const [name, entry] of view.entries) expect(entry.name).toBe(name);
    }),
    { numRuns: 300 },
  );
});

test(
  verifies('view:least-privilege', 'what is in the view is what the policy lets through, all of it and nothing else'),
  () => {
    fc.assert(
      fc.property(configurations, catalogs, chains, (draft, offered, chain) => {
        const { view, servers, policy, book } = viewOf(draft, offered, chain);
        const expected = new Map<string, string>();
        for (const [server, { control }] of servers) {
          for (const { name, hints } of control.catalog?.tools ?? []) {
            const exposed = book.nameOf(server, name);
            const { effect } = policy.decide(server, name, exposed, hints);
            if (effect !== 'deny') expected.set(exposed, `${server}\0${name}\0${effect}`);
          }
        }
        const actual = [...view.entries.values()].map(
          ({ name, server, tool, decision }) => [name, `${server}\0${tool.name}\0${decision.effect}`] as const,
        );
        expect(new Map(actual)).toEqual(expected);
      }),
      { numRuns: 300 },
    );
  },
);

test('a denied tool is absent, one that asks for a human is there', () => {
  const { view } = viewOf(
    { servers: { a: {} }, policy: { 'a.write': 'deny', 'a.read': 'require-approval' } },
    { a: ['read', 'write', 'ö'] },
    ['dev'],
  );
  expect([...view.entries].map(([name, { decision }]) => [name, decision.effect])).toEqual([
    ['a__', 'allow'],
    ['a_read', 'ask'],
  ]);
  expect(view.toolsText).not.toContain('write');
});

test(
  verifies('view:exclude-undiscovered', 'a server whose tools nobody knows yet offers nothing, whatever its lists say'),
  () => {
    const draft = { servers: { a: { tools: { exclude: ['write'] } }, web: {} } };
    const { view } = viewOf(draft, { web: ['read'] }, ['dev']);
    expect([...view.entries.keys()]).toEqual(['web_read']);
    expect(view.undiscovered.map(({ spec }) => spec.name)).toEqual(['a']);
  },
);

test('a server that the agent does not see is not waited for either', () => {
  const draft = { servers: { a: {}, web: {} }, agents: { dev: { servers: ['web'] } } };
  expect(viewOf(draft, {}, ['dev']).view.undiscovered.map(({ spec }) => spec.name)).toEqual(['web']);
});

test('a definition is listed as the server wrote it, but for the name', () => {
  const tool = {
    name: 'quo"te',
    title: 'Title',
    description: 'says "name" and\n"quo\\"te"',
    inputSchema: { type: 'object', properties: { name: { type: 'string', default: 'quo"te' } } },
    annotations: { readOnlyHint: true },
    _meta: { name: 'x' },
  };
  const { view } = viewOf({ servers: { a: {} } }, { a: [tool] }, ['dev']);
  expect(JSON.parse(view.toolsText)).toEqual([{ ...tool, name: 'a_quo_te' }]);
  expect(view.entries.get('a_quo_te')?.callHead).toBe('"name":"quo\\"te","arguments":');
});

test('a remembered definition that does not begin with its name spoils nothing', () => {
  const odd = { 1: 'x', name: 'odd', inputSchema: { type: 'object' } };
  const { source, servers, policy } = viewOf({ servers: { a: {}, web: {} } }, { a: [odd], web: ['read'] }, ['dev']);
  const a = servers.get('a');
  const remembered = a?.catalog?.tools.map((tool) => ({ ...tool, text: JSON.stringify(odd) })) ?? [];
  if (a !== undefined) a.catalog = onlyTools(remembered, 0);
  expect(JSON.parse(buildView(source, policy, ['dev']).toolsText)).toEqual([
    { ...odd, name: 'a_odd' },
    { name: 'web_read', inputSchema: { type: 'object' } },
  ]);
});

test('any definition at all leaves the list valid', () => {
  fc.assert(
    fc.property(fc.array(fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 2 })), { maxLength: 5 }), (drafts) => {
      const tools = drafts.map((draft, index) => ({ ...draft, name: `t${index}`, inputSchema: { type: 'object' } }));
      const { view } = viewOf({ servers: { a: {} } }, { a: tools }, ['dev']);
      const expected = tools.map((tool) => ({ ...tool, name: `a_${tool.name}` }));
      expect(JSON.parse(view.toolsText)).toEqual(JSON.parse(JSON.stringify(expected)));
      expect(view.toolsText).not.toMatch(/[\r\n]/);
    }),
  );
});

test('the list is in the order of names, so that it does not change with the order of servers', () => {
  const one = viewOf({ servers: { web: {}, a: {} } }, { web: ['write', 'read'], a: ['read'] }, ['dev']).view;
  const two = viewOf({ servers: { a: {}, web: {} } }, { a: ['read'], web: ['read', 'write'] }, ['dev']).view;
  expect(one.toolsText).toBe(two.toolsText);
});

function viewOf(
  draft: ConfigurationDraft,
  offered: Readonly<Record<string, readonly (string | object)[]>>,
  chain: readonly string[],
) {
  const configuration = draftConfiguration(draft);
  const tools = Object.entries(offered).map(([server, items]) => [
    server,
    items.map((item) => (typeof item === 'string' ? { name: item, inputSchema: { type: 'object' } } : item)),
  ]);
  const servers = handlesOf(configuration, Object.fromEntries(tools));
  const policy = compilePolicy(configuration, chain);
  const source = sourceOf(configuration, servers);
  return { view: buildView(source, policy, chain), source, servers, policy, book: source.names };
}

function listed(view: View): string[] {
  return (JSON.parse(view.toolsText) as { name: string }[]).map(({ name }) => name);
}
