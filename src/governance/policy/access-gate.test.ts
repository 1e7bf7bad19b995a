import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { verifies } from '../../../test/support/verifies.ts';
import type { Decision, RuleEffect, ServerAccess, ToolHints } from '../../domain/index.ts';
import { compilePolicy } from './compile-policy.ts';
import { type ConfigurationDraft, type ConfiguredServerDraft, draftConfiguration } from './configuration.fixture.ts';

const github: ConfiguredServerDraft = {
  transport: { type: 'http', url: 'https://api.githubcopilot.com/mcp/', headers: {} },
};
const source = { file: 'hub.json', line: 4 };

interface Setting {
  readonly server?: ConfiguredServerDraft;
  readonly access: Partial<ServerAccess>;
  readonly hints?: ToolHints;
  readonly chain?: readonly string[];
}

function decide(
  tool: string,
  { server, access, hints, chain }: Setting,
  draft: Omit<ConfigurationDraft, 'servers'> = {},
) {
  const configuration = draftConfiguration({ servers: { hub: { ...(server ?? github), access } }, ...draft });
  return compilePolicy(configuration, chain ?? ['dev']).decide('hub', tool, `hub_${tool}`, hints ?? null);
}

describe('a read-only server', () => {
  const readOnly: Setting = { access: { scopes: ['read:issues'] } };

  test(verifies('scopes:read-only', 'offers what is known to read and hides the rest'), () => {
    expect(decide('list_issues', readOnly).effect).toBe('allow');
    expect(decide('create_issue', readOnly)).toEqual({
      effect: 'deny',
      reason: { kind: 'read-only', server: 'hub', because: 'known-server', source },
    });
    expect(decide('brand_new', readOnly).reason).toMatchObject({ kind: 'read-only', because: 'no-word' });
  });

  test('is the same by its scopes and by its own setting', () => {
    const said: Setting = { access: { scopes: ['write:issues'], readOnly: true } };
    expect(decide('create_issue', said).reason).toMatchObject({ kind: 'read-only' });
    expect(decide('create_issue', { access: { scopes: ['read:issues', 'write:issues'] } }).effect).toBe('allow');
    expect(decide('create_issue', { access: {} }).effect).toBe('allow');
  });

  test('is opened by no rule, exact or not, for everybody or for the agent', () => {
    const allow: Readonly<Record<string, RuleEffect>> = { 'hub.create_issue': 'allow', '*': 'allow' };
    const draft = { policy: allow, agents: { dev: { policy: allow } } };
    expect(decide('create_issue', readOnly, draft).reason.kind).toBe('read-only');
  });

  test('is known by how it is reached, not by what it is called', () => {
    const configuration = draftConfiguration({ servers: { github: { access: { readOnly: true } } } });
    const decision = compilePolicy(configuration, ['dev']).decide('github', 'list_issues', 'github_list_issues', null);
    expect(decision.reason).toMatchObject({ kind: 'read-only', because: 'no-word' });
  });

  test('still obeys lists and rules for what it may offer', () => {
    expect(decide('list_issues', readOnly, { policy: { 'hub.list_*': 'deny' } }).reason.kind).toBe('rule');
    const filtered = { ...readOnly, server: { ...github, tools: { include: [] } } };
    expect(decide('list_issues', filtered).reason.kind).toBe('not-included');
  });
});

describe('approval for writing', () => {
  const approval: Setting = { access: { writeRequiresApproval: true } };

  test(verifies('scopes:write-approval', 'is asked for what may write and for nothing else'), () => {
    expect(decide('list_issues', approval)).toEqual({ effect: 'allow', reason: { kind: 'default' } });
    expect(decide('create_issue', approval)).toEqual({
      effect: 'ask',
      reason: { kind: 'write-approval', server: 'hub', because: 'known-server', source },
    });
    expect(decide('brand_new', approval).reason).toMatchObject({ kind: 'write-approval', because: 'no-word' });
  });

  test(verifies('scopes:write-approval', 'is lifted by an exact rule for that very tool'), () => {
    const exact = { policy: { 'hub.*': 'allow', 'hub.create_issue': 'allow' } } as const;
    expect(decide('create_issue', approval, exact)).toEqual({
      effect: 'allow',
      reason: { kind: 'rule', pattern: 'hub.create_issue', source: { file: 'quartermaster.yaml', line: 2 } },
    });
    expect(decide('create_pull_request', approval, exact).reason.kind).toBe('write-approval');
  });

  test.each(['*', 'hub.*', 'hub.create_*', 'hub.create_issue*'])('is not lifted by the pattern %s', (pattern) => {
    expect(decide('create_issue', approval, { policy: { [pattern]: 'allow' } }).reason.kind).toBe('write-approval');
  });

  test("is lifted by an agent's own exact rule, for that agent", () => {
    const draft = { agents: { dev: { policy: { 'hub.create_issue': 'allow' } } } } as const;
    expect(decide('create_issue', approval, draft).reason).toMatchObject({ kind: 'rule', agent: 'dev' });
    expect(decide('create_issue', { ...approval, chain: ['other'] }, draft).effect).toBe('ask');
    expect(decide('create_issue', { ...approval, chain: ['dev', 'other'] }, draft).effect).toBe('ask');
    expect(decide('create_issue', { ...approval, chain: ['other', 'dev'] }, draft).effect).toBe('ask');
  });

  test('is lifted by the rule of a role, and not by a member against its role', () => {
    const allow = { policy: { 'hub.create_issue': 'allow' } } as const;
    const roles = { dev: 'lead' };
    expect(decide('create_issue', approval, { agents: { lead: allow, dev: {} }, roles }).effect).toBe('allow');
    expect(decide('create_issue', approval, { agents: { lead: {}, dev: allow }, roles }).effect).toBe('ask');
  });

  test('an exact allow lifts nothing else: other rules stay, and deny beats ask', () => {
    const agents = (effect: RuleEffect) => ({ dev: { policy: { 'hub.*': effect } } });
    const lifted = { policy: { 'hub.create_issue': 'allow' } } as const;
    const denied = decide('create_issue', approval, { ...lifted, agents: agents('deny') });
    expect(denied).toMatchObject({ effect: 'deny', reason: { kind: 'rule', pattern: 'hub.*' } });
    const asked = decide('create_issue', approval, { ...lifted, agents: agents('require-approval') });
    expect(asked).toMatchObject({ effect: 'ask', reason: { kind: 'rule', pattern: 'hub.*' } });
    expect(decide('create_issue', approval, { policy: { 'hub.*': 'deny' } }).effect).toBe('deny');
  });
});

const hints: fc.Arbitrary<ToolHints> = fc.record({
  readOnly: fc.option(fc.boolean(), { nil: null }),
  destructive: fc.option(fc.boolean(), { nil: null }),
});
const strictness: Readonly<Record<Decision['effect'], number>> = { allow: 0, ask: 1, deny: 2 };
const accesses = fc.record({
  scopes: fc.subarray(['read:issues', 'write:issues', 'x']),
  readOnly: fc.boolean(),
  writeRequiresApproval: fc.boolean(),
});
const tools = fc.constantFrom('list_issues', 'create_issue', 'brand_new');
const rules = fc.dictionary(
  fc.constantFrom('hub.list_issues', 'hub.create_issue', 'hub.brand_new', 'hub.*'),
  fc.constantFrom<RuleEffect>('allow', 'require-approval', 'deny'),
  { maxKeys: 3 },
);

test(verifies('scopes:untrusted', 'no annotation of an untrusted server makes a decision milder'), () => {
  fc.assert(
    fc.property(accesses, tools, hints, rules, fc.boolean(), (access, tool, said, policy, known) => {
      const setting = { access, ...(known ? {} : { server: {} }) };
      const silent = decide(tool, setting, { policy });
      const spoken = decide(tool, { ...setting, hints: said }, { policy });
      expect(strictness[spoken.effect]).toBeGreaterThanOrEqual(strictness[silent.effect]);
    }),
    { numRuns: 500 },
  );
});

test('an access setting never gives more than no setting', () => {
  fc.assert(
    fc.property(accesses, fc.boolean(), tools, hints, rules, (access, trustAnnotations, tool, said, policy) => {
      const open = decide(tool, { access: {}, hints: said }, { policy });
      const bound = decide(tool, { access: { ...access, trustAnnotations }, hints: said }, { policy });
      expect(strictness[bound.effect]).toBeGreaterThanOrEqual(strictness[open.effect]);
    }),
    { numRuns: 500 },
  );
});
