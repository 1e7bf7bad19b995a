import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { verifies } from '../../../../test/support/verifies.ts';
import type { WorkBudget } from '../../../base/index.ts';
import type { RuleEffect, ToolFilter } from '../../../domain/index.ts';
import { compilePolicy } from '../compile-policy.ts';
import { type ConfigurationDraft, draftConfiguration } from '../configuration.fixture.ts';
import { type FormsOf, maxDecisionWork } from './read-subject.ts';

const noForms: FormsOf = () => [];

function decide(draft: ConfigurationDraft, subject: string, formsOf?: FormsOf) {
  return compilePolicy(draftConfiguration(draft), ['dev']).decideRead('memo', subject, formsOf);
}

function effect(draft: ConfigurationDraft, subject: string, formsOf?: FormsOf): string {
  return decide(draft, subject, formsOf).effect;
}

describe('lists', () => {
  const included: readonly (readonly [string, string, boolean])[] = [
    ['*', 'resource:memo://a/1', true],
    ['*', 'prompt:greet', true],
    ['memo.*', 'prompt:greet', true],
    ['resource:*', 'resource:memo://a/1', true],
    ['resource:*', 'prompt:greet', false],
    ['resource:memo://a/*', 'resource:memo://a/1', true],
    ['memo.resource:memo://a/*', 'resource:memo://a/1', true],
    ['resource:memo://a/*', 'resource:memo://b/1', false],
    ['resource:memo://a/1', 'resource:memo://a/1', true],
    ['prompt:greet', 'prompt:greet', true],
    ['prompt:greet', 'prompt:greet2', false],
    ['greet', 'prompt:greet', false],
    // Written for tools.
    ['r*', 'resource:memo://a/1', false],
    ['*memo*', 'resource:memo://a/1', false],
    ['*', 'resource:', true],
  ];
  test.each(included)('include %s, asked for %s: %s', (entry, subject, isThere) => {
    const draft = { servers: { memo: { tools: { include: ['read', entry] } } } };
    expect(effect(draft, subject)).toBe(isThere ? 'allow' : 'deny');
    const excluding = { servers: { memo: { tools: { exclude: [entry] } } } };
    if (isThere) expect(decide(excluding, subject).reason).toMatchObject({ kind: 'excluded', by: 'server memo' });
  });

  test('an exclude list takes away whatever fits, also what was written for tools', () => {
    const draft = { servers: { memo: {} }, agents: { dev: { tools: { memo: { exclude: ['*secret*'] } } } } };
    expect(decide(draft, 'resource:memo://secret').reason).toMatchObject({ kind: 'excluded', by: 'agent dev' });
    expect(effect(draft, 'prompt:tell_secrets')).toBe('deny');
    expect(effect(draft, 'prompt:greet')).toBe('allow');
  });

  test('rules for resources do not apply to tools with such a name', () => {
    const draft: ConfigurationDraft = {
      servers: { memo: { tools: { include: ['resource:*', 'prompt:*'] }, access: { writeRequiresApproval: true } } },
    };
    const policy = compilePolicy(draftConfiguration(draft), ['dev']);
    expect(policy.decide('memo', 'resource:x', 'memo_resource_x', null).effect).toBe('deny');
    expect(policy.decide('memo', 'prompt:x', 'prompt:x', null).effect).toBe('deny');
    const rules: ConfigurationDraft = {
      servers: { memo: { access: { writeRequiresApproval: true } } },
      policy: { 'memo.prompt:x': 'allow', 'memo.tool:prompt:y': 'allow' },
    };
    const ruled = compilePolicy(draftConfiguration(rules), ['dev']);
    expect(ruled.decide('memo', 'prompt:x', 'memo_prompt_x', null).effect).toBe('ask');
    expect(ruled.decide('memo', 'prompt:y', 'memo_prompt_y', null).effect).toBe('allow');
  });
});

describe('rules', () => {
  const rules: readonly (readonly [string, string, boolean])[] = [
    ['memo.resource:memo://a', 'resource:memo://a', true],
    ['memo.resource:memo://a.b/c.d', 'resource:memo://a.b/c.d', true],
    ['memo.resource:memo://a/*', 'resource:memo://a/b/c', true],
    ['memo.resource:*', 'prompt:a', false],
    ['memo.prompt:gr*', 'prompt:greet', true],
    ['*.prompt:*', 'prompt:greet', true],
    ['memo.*', 'resource:memo://a', true],
    ['memo.greet', 'prompt:greet', false],
    ['other.*', 'prompt:greet', false],
  ];
  test.each(rules)('%s speaks of %s: %s', (pattern, subject, speaks) => {
    for (const [written, decided] of [
      ['deny', 'deny'],
      ['require-approval', 'ask'],
    ] as const) {
      const draft = { servers: { memo: {}, other: {} }, policy: { [pattern]: written } };
      expect(effect(draft, subject)).toBe(speaks ? decided : 'allow');
    }
  });

  test('an exact rule beats a pattern, and of two maps the stricter decides', () => {
    const policy: Record<string, RuleEffect> = { 'memo.resource:*': 'deny', 'memo.resource:memo://a': 'allow' };
    expect(effect({ servers: { memo: {} }, policy }, 'resource:memo://a')).toBe('allow');
    const agents = { dev: { policy: { 'memo.resource:*': 'require-approval' as const } } };
    expect(effect({ servers: { memo: {} }, policy, agents }, 'resource:memo://a')).toBe('ask');
  });
});

test('write annotations do not affect reads; routing does', () => {
  const access = { readOnly: true, writeRequiresApproval: true };
  const draft = { servers: { memo: { access }, other: {} } };
  expect(effect(draft, 'resource:memo://a')).toBe('allow');
  expect(effect(draft, 'prompt:greet')).toBe('allow');
  const routed = { ...draft, agents: { dev: { servers: ['other'] } } };
  expect(decide(routed, 'resource:memo://a').reason).toEqual({ kind: 'not-routed', agent: 'dev' });
});

describe('a URI that the caller made up', () => {
  const servers = { memo: {} };
  const spellings = [
    'memo://private/x',
    'memo://private/y/../x',
    'memo://open/../private/x',
    'memo://%70rivate/x',
    'memo://open%2F..%2Fprivate/x',
    'memo://open/..%2fprivate/x',
    'MEMO://private/x',
    'MEMO://open/../private/x',
    'memo://private/x#part',
    'memo://private/x?',
    'memo://private/x?y=1',
    'memo://private/\nx',
    ' memo://private/x',
  ];
  test.each(spellings)('is judged in all its spellings: %j', (uri) => {
    const denied: ConfigurationDraft = { servers, policy: { 'memo.resource:memo://private/x': 'deny' } };
    expect(effect(denied, `resource:${uri}`, noForms)).toBe('deny');
    const excluded = { servers: { memo: { tools: { exclude: ['resource:memo://private/*'] } } } };
    expect(effect(excluded, `resource:${uri}`, noForms)).toBe('deny');
    const elsewhere = { servers: { memo: { tools: { include: ['resource:memo://open/*'] } } } };
    expect(effect(elsewhere, `resource:${uri}`, noForms)).toBe('deny');
  });

  test('is what it says where no spelling leads elsewhere', () => {
    const include = ['resource:memo://open/*', 'resource:plain/*', 'resource:db://rows?id=*', 'resource:file:///a%20b'];
    const draft = { servers: { memo: { tools: { include } } } };
    for (const uri of [
      'memo://open/x',
      'plain/x/../y',
      'memo://open/x/../y',
      'memo://open/%78?q=1',
      'db://rows?id=7',
      'file:///a%20b',
    ]) {
      expect([uri, effect(draft, `resource:${uri}`, noForms)]).toEqual([uri, 'allow']);
    }
  });

  test('is decided by the rule that names it as it is written', () => {
    const draft: ConfigurationDraft = {
      servers,
      policy: { 'memo.resource:*': 'deny', 'memo.resource:gitlab://group%2Fproject?a=1': 'allow' },
    };
    expect(effect(draft, 'resource:gitlab://group%2Fproject?a=1', noForms)).toBe('allow');
    expect(effect(draft, 'resource:gitlab://group/project?a=1', noForms)).toBe('deny');
  });

  test('is denied with the template that it fits, in any spelling', () => {
    const draft: ConfigurationDraft = { servers, policy: { 'memo.resource:memo://{id}': 'deny' } };
    const formsOf: FormsOf = () => [{ text: 'memo://{id}', fits: (uri) => /^memo:\/\/[^/]+$/.test(uri) }];
    expect(effect(draft, 'resource:memo://7', formsOf)).toBe('deny');
    expect(effect(draft, 'resource:memo://x/../7', formsOf)).toBe('deny');
    expect(effect(draft, 'resource:memo://x/7', formsOf)).toBe('allow');
    const listed: Readonly<Record<string, ToolFilter>> = { memo: { include: ['resource:memo://7'] } };
    expect(effect({ servers, agents: { dev: { tools: listed } } }, 'resource:memo://7', formsOf)).toBe('allow');
  });

  test('is denied where comparing it with templates takes more work than a decision may', () => {
    const draft: ConfigurationDraft = { servers, policy: { 'memo.resource:memo://{*': 'deny' } };
    const excluding = { servers: { memo: { tools: { exclude: ['resource:memo://{*'] } } } };
    let compared = 0;
    const formsOf = (count: number, cost: number): FormsOf => {
      const templates = Array.from({ length: count }, (_, index) => ({
        text: `memo://{a${index}}`,
        fits(_uri: string, budget: WorkBudget) {
          if (budget.spend(cost)) compared++;
          return false;
        },
      }));
      return () => templates;
    };
    for (const each of [draft, excluding]) {
      expect(effect(each, 'resource:memo://x', formsOf(10, 10))).toBe('allow');
      compared = 0;
      expect(decide(each, 'resource:memo://x', formsOf(300, maxDecisionWork / 100))).toEqual({
        effect: 'deny',
        reason: { kind: 'unsafe-uri', problem: 'too-much-work' },
      });
      expect(compared).toBeLessThan(101);
    }
    // A rule that denies it anyway is the reason that people are told.
    const both: ConfigurationDraft = { servers, policy: { ...draft.policy, 'memo.resource:memo://x': 'deny' } };
    expect(decide(both, 'resource:memo://x', formsOf(300, maxDecisionWork / 100)).reason).toMatchObject({
      kind: 'rule',
    });
  });

  test('is compared with those templates alone that a rule is about', () => {
    const compared: string[] = [];
    const formsOf: FormsOf = () =>
      ['memo://{id}', 'memo://{a}/{b}', 'memo://{+all}'].map((text) => ({
        text,
        fits: () => {
          compared.push(text);
          return false;
        },
      }));
    const draft: ConfigurationDraft = { servers, policy: { 'memo.resource:memo://{a}/{b}': 'deny' } };
    expect(effect(draft, 'resource:memo://x/7', formsOf)).toBe('allow');
    expect(new Set(compared)).toEqual(new Set(['memo://{a}/{b}']));
    const excluding = { servers: { memo: { tools: { exclude: ['resource:memo://{id}'] } } } };
    expect(effect(excluding, 'resource:memo://x/7', formsOf)).toBe('allow');
    expect(new Set(compared)).toEqual(new Set(['memo://{a}/{b}', 'memo://{id}']));
  });

  test(verifies('view:resources-hidden', 'no host, port or parameter leads a parser of URLs to what is denied'), () => {
    const draft: ConfigurationDraft = {
      servers,
      policy: { 'memo.resource:file:///private/*': 'deny', 'memo.resource:memo://board/*': 'deny' },
    };
    const host = fc.constantFrom('', 'x', '127.1', 'localhost', 'private', 'a.b', '0x7f.1', '[::1]', 'C:', 'board');
    const user = fc.constantFrom('', '', 'u@', 'u:p@', 'a%40b@');
    const port = fc.constantFrom('', '', ':1', ':07', ':');
    const piece = fc.constantFrom(
      '..',
      '.',
      'private',
      'x',
      '%2e%2E',
      '',
      'minutes',
      '%70rivate',
      '..;',
      'y;v=1',
      'z.',
    );
    let denied = 0;
    fc.assert(
      fc.property(user, host, port, fc.array(piece, { minLength: 1, maxLength: 6 }), (...[who, name, at, pieces]) => {
        for (const scheme of ['file', 'memo']) {
          const uri = `${scheme}://${scheme === 'file' ? '' : who}${name}${scheme === 'file' ? '' : at}/${pieces.join('/')}`;
          if (!URL.canParse(uri)) continue;
          const { hostname, pathname } = new URL(uri);
          // As Java servers do after parsing.
          const path = decodeURIComponent(pathname).replaceAll(/;[^/]*/g, '');
          const isDenied = scheme === 'file' ? path.startsWith('/private/') : hostname === 'board' && path !== '';
          if (!isDenied) continue;
          denied++;
          expect([uri, effect(draft, `resource:${uri}`, noForms)]).toEqual([uri, 'deny']);
        }
      }),
      { numRuns: 3000 },
    );
    expect(denied).toBeGreaterThan(50);
  });

  test(verifies('view:resources-hidden', 'no spelling of a URI gets more than the URI itself'), () => {
    const draft: ConfigurationDraft = { servers, policy: { 'memo.resource:file:///private/*': 'deny' } };
    const piece = fc.constantFrom('..', '.', 'private', 'open', '%2e%2E', '%70rivate', '', 'x', '?', '#', '\t');
    let denied = 0;
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 6 }), (pieces) => {
        const uri = `FILE://localhost/open/${pieces.join('/')}`;
        const { pathname } = new URL(uri);
        if (!/^\/(private|%70rivate)\//.test(pathname)) return;
        denied++;
        expect(effect(draft, `resource:${uri}`, noForms)).toBe('deny');
      }),
      { numRuns: 3000, examples: [[['..', 'private', 'x']]] },
    );
    expect(denied).toBeGreaterThan(10);
  });
});
