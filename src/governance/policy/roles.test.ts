import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { verifies } from '../../../test/support/verifies.ts';
import type { Decision, RuleEffect, ToolFilter } from '../../domain/index.ts';
import { compilePolicy } from './compile-policy.ts';
import { type AgentDraft, type ConfigurationDraft, draftConfiguration } from './configuration.fixture.ts';
import { entryTitles, policyEntriesFor } from './policy-entries.ts';

const servers = { files: {}, git: {}, slack: {}, clock: { shared: true } };
const lead: AgentDraft = {
  servers: ['files', 'git'],
  tools: { files: { exclude: ['delete_file'] } },
  policy: { 'git.git_push': 'require-approval' },
};
const roles = { danny: 'lead' };

function seen(draft: Omit<ConfigurationDraft, 'servers'>, ...chain: string[]): string[] {
  return Object.keys(servers).filter(compilePolicy(draftConfiguration({ servers, ...draft }), chain).seesServer);
}

function ask(draft: Omit<ConfigurationDraft, 'servers'>, agent: string, server: string, tool: string): Decision {
  return compilePolicy(draftConfiguration({ servers, ...draft }), [agent]).decide(server, tool, tool, null);
}

describe('an agent without an entry of its own', () => {
  const draft = { agents: { lead }, roles };

  test(verifies('routing:role', 'has the servers of its role and the shared ones'), () => {
    expect(seen(draft, 'danny')).toEqual(['files', 'git', 'clock']);
    expect(ask(draft, 'danny', 'slack', 'send').reason).toEqual({ kind: 'not-routed', agent: 'danny (role lead)' });
  });

  test('has the lists and the rules of its role', () => {
    expect(ask(draft, 'danny', 'files', 'delete_file')).toEqual({
      effect: 'deny',
      reason: { kind: 'excluded', by: 'role lead', source: { file: 'agents.yaml', line: 7 } },
    });
    expect(ask(draft, 'danny', 'git', 'git_push')).toEqual({
      effect: 'ask',
      reason: {
        kind: 'rule',
        pattern: 'git.git_push',
        source: { file: 'agents.yaml', line: 1 },
        agent: 'danny (role lead)',
      },
    });
  });

  test('and a role without an entry gets the shared servers only', () => {
    expect(seen({ agents: { lead }, roles: { danny: 'designer' } }, 'danny')).toEqual(['clock']);
  });
});

test('the name of a role works as the name of an agent', () => {
  const draft = { agents: { lead }, roles };
  expect(seen(draft, 'lead')).toEqual(['files', 'git', 'clock']);
  expect(ask(draft, 'lead', 'files', 'delete_file').reason).toMatchObject({ by: 'agent lead' });
});

describe('an agent with an entry of its own and a role', () => {
  test('takes the servers of the role when it names none', () => {
    expect(seen({ agents: { lead, danny: {} }, roles }, 'danny')).toEqual(['files', 'git', 'clock']);
  });

  test(verifies('routing:role', 'may have fewer servers than its role, not others'), () => {
    expect(seen({ agents: { lead, danny: { servers: ['git', 'slack'] } }, roles }, 'danny')).toEqual(['git', 'clock']);
    expect(seen({ agents: { lead, danny: { servers: [] } }, roles }, 'danny')).toEqual(['clock']);
  });

  test('has its own servers when the role routes nothing', () => {
    expect(seen({ agents: { lead: {}, danny: { servers: ['slack'] } }, roles }, 'danny')).toEqual(['slack', 'clock']);
    expect(seen({ agents: { lead: {}, danny: {}, other: { servers: [] } }, roles }, 'danny')).toEqual(['clock']);
  });

  test('is bound by both lists and by the stricter of both rules', () => {
    const danny: AgentDraft = {
      tools: { files: { include: ['read_file', 'delete_file'] } },
      policy: { 'git.git_push': 'allow', 'git.git_log': 'deny' },
    };
    const draft = { agents: { lead, danny }, roles };
    expect(ask(draft, 'danny', 'files', 'read_file').effect).toBe('allow');
    expect(ask(draft, 'danny', 'files', 'write_file').reason).toMatchObject({ by: 'agent danny' });
    expect(ask(draft, 'danny', 'files', 'delete_file').reason).toMatchObject({ by: 'role lead' });
    expect(ask(draft, 'danny', 'git', 'git_push').effect).toBe('ask');
    expect(ask(draft, 'danny', 'git', 'git_log').reason).toMatchObject({ agent: 'danny' });
  });
});

test('an agent that is its own role counts once, and roles do not form cycles', () => {
  const configuration = draftConfiguration({ servers, agents: { a: {}, b: {} }, roles: { a: 'a', b: 'a' } });
  expect(policyEntriesFor(configuration, 'a').map(({ title }) => title)).toEqual(['agent a']);
  const circle = draftConfiguration({ servers, agents: { a: {}, b: {} }, roles: { a: 'b', b: 'a' } });
  expect(policyEntriesFor(circle, 'a').map(({ title }) => title)).toEqual(['agent a', 'role b']);
});

test('an entry that others have as their role is called one', () => {
  const titleOf = entryTitles(
    draftConfiguration({ servers, agents: { lead, danny: {} }, roles: { danny: 'lead', x: 'x' } }),
  );
  expect(['lead', 'danny', 'x'].map(titleOf)).toEqual(['role lead', 'agent danny', 'agent x']);
});

const names = fc.constantFrom('read_file', 'delete_file', '*', 'files.*');
const filters: fc.Arbitrary<ToolFilter> = fc.record(
  { include: fc.array(names, { maxLength: 2 }), exclude: fc.array(names, { maxLength: 1 }) },
  { requiredKeys: [] },
);
const policies = fc.dictionary(
  fc.constantFrom('files.read_file', 'files.*', '*', 'git.read_file'),
  fc.constantFrom<RuleEffect>('allow', 'require-approval', 'deny'),
  { maxKeys: 3 },
);
const entries: fc.Arbitrary<AgentDraft> = fc.record(
  {
    servers: fc.subarray(['files', 'git']),
    tools: fc.record({ files: filters, git: filters }, { requiredKeys: [] }),
    policy: policies,
  },
  { requiredKeys: [] },
);
const strictness: Readonly<Record<Decision['effect'], number>> = { allow: 0, ask: 1, deny: 2 };

test(verifies('routing:role', 'no entry of an agent gives it more than its role has'), () => {
  fc.assert(
    fc.property(entries, entries, policies, fc.boolean(), (own, role, policy, approval) => {
      const access = { writeRequiresApproval: approval };
      const draft: ConfigurationDraft = {
        servers: { files: { access }, git: { shared: true } },
        // The third keeps the configuration routed, so that an entry without servers does not open everything.
        agents: { danny: own, lead: role, other: { servers: [] } },
        policy,
        roles,
      };
      const [agent, its] = [['danny'], ['lead']].map((chain) => compilePolicy(draftConfiguration(draft), chain));
      if (agent === undefined || its === undefined) throw new Error('two chains');
      for (const server of ['files', 'git']) {
        if (role.servers !== undefined && agent.seesServer(server)) expect(its.seesServer(server)).toBe(true);
        for (const tool of ['read_file', 'delete_file']) {
          const [mine, theirs] = [agent, its].map((each) => each.decide(server, tool, tool, null));
          if (mine === undefined || theirs === undefined) throw new Error('two decisions');
          // A role that routes nothing leaves routing to the agent's own entry.
          if (role.servers === undefined && theirs.reason.kind === 'not-routed') continue;
          expect(strictness[mine.effect]).toBeGreaterThanOrEqual(strictness[theirs.effect]);
        }
      }
    }),
    { numRuns: 500 },
  );
});
