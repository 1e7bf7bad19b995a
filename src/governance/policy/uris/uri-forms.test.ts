import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { verifies } from '../../../../test/support/verifies.ts';
import { maxUriLength } from '../../../domain/index.ts';
import { compilePolicy } from '../compile-policy.ts';
import { type ConfigurationDraft, draftConfiguration } from '../configuration.fixture.ts';
import type { FormsOf } from './read-subject.ts';
import { uriForms } from './uri-forms.ts';

const noForms: FormsOf = () => [];

function effect(draft: ConfigurationDraft, uri: string, formsOf: FormsOf | undefined = noForms): string {
  return compilePolicy(draftConfiguration(draft), ['dev']).decideRead('memo', `resource:${uri}`, formsOf).effect;
}

/** Every way to take away one URI, or all that lie beside it. */
function denials(uri: string): ConfigurationDraft[] {
  const around = uri.replace(/[^/]*$/, '*');
  const servers = { memo: {} };
  return [
    { servers, policy: { [`memo.resource:${uri}`]: 'deny' } },
    { servers, policy: { [`memo.resource:${around}`]: 'deny' } },
    { servers, policy: { [`*.resource:${around}`]: 'deny' } },
    { servers, agents: { dev: { policy: { [`memo.resource:${uri}`]: 'deny' } } } },
    { servers: { memo: { tools: { exclude: [`resource:${uri}`] } } } },
    { servers: { memo: { tools: { exclude: [`memo.resource:${around}`] } } } },
    { servers, agents: { dev: { tools: { memo: { exclude: [`resource:${around}`] } } } } },
  ];
}

describe('a spelling of a URI that is denied', () => {
  const secret = 'memo://vault/keys/root';
  const spellings: Readonly<Record<string, readonly string[]>> = {
    slashes: ['memo:/vault/keys/root', 'memo:vault/keys/root', 'memo:///vault/keys/root', 'memo://vault//keys///root'],
    'encoded slashes': ['memo://vault%2Fkeys%2froot', 'memo:%2F%2Fvault/keys/root', 'memo://vault/%2Fkeys/root'],
    'encoded twice and more': [
      'memo://vault%252Fkeys/root',
      'memo://v%252561ult/keys/root',
      'memo://vault/%%36beys/root',
    ],
    'dot segments': ['memo://vault/./keys/root', 'memo://vault/x/../keys/root', 'memo://x/../vault/keys/root/.'],
    'encoded dots': [
      'memo://vault/%2e/keys/root',
      'memo://vault/x/%2E%2e/keys/root',
      'memo://vault/x/%252e./keys/root',
    ],
    'dots in what looks like a query': ['memo://vault/x?/../keys/root', 'memo://vault/x%3F/../keys/root'],
    case: ['MEMO://vault/keys/root', 'memo://VAULT/keys/root', 'memo://Vault/Keys/ROOT'],
    userinfo: [
      'memo://me@vault/keys/root',
      'memo://me:pw@vault/keys/root',
      'memo://a@b@vault/keys/root',
      'memo://@vault/keys/root',
    ],
    'dots and ports of a host': [
      'memo://vault./keys/root',
      'memo://vault:/keys/root',
      'memo://vault:1/keys/root',
      'memo://vault%3A1/keys/root',
      'memo://vault:x/keys/root',
      'memo://me@vault:7/keys/root',
    ],
    'parameters of segments': [
      'memo://vault/keys/root;v=1',
      'memo://vault/keys;a;b=2/root',
      'memo://vault;x/keys/root',
      'memo://vault/keys/root%3Bv=1',
      'memo://vault/x/..;/keys/root',
      'memo://vault/x/..;y=1/keys/root?z',
      'memo://vault/x/%2e%2e%3b/keys/root',
      'memo://me@vault:7/keys;v=1/root;',
    ],
    'dots and spaces at the end of segments': [
      'memo://vault/keys/root.',
      'memo://vault/keys../root',
      'memo://vault/keys%2e/root%20.',
    ],
    backslashes: ['memo:\\\\vault\\keys\\root', 'memo://vault/keys\\root', 'memo://vault%5Ckeys/root'],
    'fragments and queries': [
      'memo://vault/keys/root#x',
      'memo://vault/keys/root?x=1',
      'memo://vault/keys/root%23x',
      'memo://vault/keys/root%3fx',
    ],
    'what parsers drop': [
      'memo://vault/ke\tys/root',
      'me\nmo://vault/keys/root',
      ' memo://vault/keys/root ',
      'memo://vault/keys/ro%0Aot',
    ],
    'what nobody sees': [
      'memo://va\u00adult/keys/root',
      'memo://vault/keys/ro\u200bot',
      '\ufeffmemo://vault/keys/root',
    ],
    'the end of a string in C': ['memo://vault/keys/root%00.txt', 'memo://vault/keys/root\0/../../open'],
    'a slash at the end': ['memo://vault/keys/root/', 'memo://vault/keys/root//'],
    'broken percent signs beside it': ['memo://%76ault/keys/root?%zz', 'memo://%76ault/keys/root?%ff'],
    'compatible characters': ['memo://vault／keys/root', 'memo://ｖault/keys/root', 'memo://x/．．/vault/keys/root'],
  };
  test.each(Object.keys(spellings))('is denied with it: %s', (kind) => {
    for (const uri of spellings[kind] ?? []) {
      for (const draft of denials(secret)) expect([uri, effect(draft, uri)]).toEqual([uri, 'deny']);
    }
  });

  test('is denied with it: web addresses, other alphabets, accents', () => {
    const pairs: readonly (readonly [string, string])[] = [
      ['https://Bücher.example/a', 'https://xn--bcher-kva.example/a'],
      ['https://xn--bcher-kva.example/a', 'https://b%C3%BCcher.example/a'],
      ['memo://bücher/a', 'memo://xn--bcher-kva/a'],
      ['http://127.0.0.1/a', 'http://0x7f.1/a'],
      ['http://127.0.0.1/a', 'http:127.0.0.1./a'.replace('http:', 'http:/')],
      ['https://host.example/a', 'https://host.example:443/a'],
      ['https://host.example/a', 'https://host.example:0443//a'],
      ['https://host.example:443/a', 'https:///host.example/a'],
      ['memo://caf\u00e9/a', 'memo://cafe\u0301/a'],
      ['memo://x/caf\u00e9', 'memo://x/cafe%CC%81'],
      ['file:///home/me/.ssh/id', 'file://localhost/home/me/.SSH/id'],
      ['file:///home/me/.ssh/id', 'file:/home/me/.ssh/id'],
      ['file:///home/me/.ssh/id', 'file://x/home/me/.ssh/id'],
      ['file:///home/me/.ssh/*', 'file://127.1/home/me/.ssh/id'],
      ['file:///home/me/.ssh/*', 'file://me@x:7/home/me;v=1/.ssh./id'],
      ['file:///C:/keys/*', 'file://C:/keys/id'],
      ['file:///C:/keys/*', 'file:///c|/keys/id'],
      ['http://host.example/a', 'http:host.example:8080/a'],
      ['http://[::1]/a', 'http://[::1]:8080/a'],
      ['memo://board:7/*', 'memo://x@board:7/minutes;v=1'],
      ['memo://Vault/Keys', 'memo://vault/keys'],
      ['memo://a/../vault/x', 'memo://vault/x'],
      ['memo://vault%2Fx', 'memo://vault/x'],
    ];
    for (const [denied, uri] of pairs) {
      const draft: ConfigurationDraft = { servers: { memo: {} }, policy: { [`memo.resource:${denied}`]: 'deny' } };
      expect([denied, uri, effect(draft, uri)]).toEqual([denied, uri, 'deny']);
    }
  });

  test('is denied although the server lists it under that spelling', () => {
    for (const draft of denials(secret)) expect(effect(draft, 'MEMO://vault//keys/root', undefined)).toBe('deny');
  });

  test('is denied by one map although another names it', () => {
    const draft: ConfigurationDraft = {
      servers: { memo: {} },
      policy: { 'memo.resource:memo://vault//x': 'allow' },
      agents: { dev: { policy: { 'memo.resource:memo://vault/*': 'deny' } } },
    };
    expect(effect(draft, 'memo://vault//x')).toBe('deny');
  });
});

describe('an include list', () => {
  const open: ConfigurationDraft = { servers: { memo: { tools: { include: ['resource:memo://open*'] } } } };
  test.each([
    'memo://open@vault/x',
    'memo://open/../vault/x',
    'memo://open/../OPEN/x',
    'memo://open/%2e%2e/vault/x',
    'memo://open/%252e%252e/vault/x',
    'memo://open/..%5cvault/x',
    'memo://open/．．/vault/x',
    'memo://open/../vault/%252e%252e/open/x',
    'memo://open/x?/../../vault',
    'memo://open/..;/vault/x',
    'memo://open/..;v=1/vault/x',
    'memo://open/..%3B/vault/x',
  ])('must hold for every form of a URI: %s', (uri) => {
    expect(effect(open, uri)).toBe('deny');
  });

  test('lets through what is inside in every form, and what it names in this very spelling', () => {
    const include = [
      'resource:memo://open/*',
      'resource:memo://a//b',
      'resource:postgres://me@host/db/*',
      'resource:gitlab://group%2F*',
      'resource:https://host.example:443/*',
      'resource:memo://Mixed/Case/*',
    ];
    const draft = { servers: { memo: { tools: { include } } } };
    for (const uri of [
      'memo://open/a b/ü?q=../x#y',
      'memo://open/a%20b/%C3%BC',
      'memo://open/x/../y',
      'memo://open/50%25/off',
      'memo://a//b',
      'postgres://me@host/db/orders/schema',
      'gitlab://group%2Fproject',
      'https://host.example:443/x',
      'memo://Mixed/Case/X',
      'memo://open/*',
    ]) {
      expect([uri, effect(draft, uri)]).toEqual([uri, 'allow']);
    }
    for (const uri of ['memo://mixed/case/X', 'postgres://you@host/db/x', 'memo://a/b']) {
      expect([uri, effect(draft, uri)]).toEqual([uri, 'deny']);
    }
  });
});

test('an include list of files holds for the path, whatever host is named', () => {
  const include = ['resource:file:///pub/*', 'resource:file://pub*', 'resource:file://nas/share/*'];
  const draft = { servers: { memo: { tools: { include } } } };
  const judged = (uri: string): string => effect(draft, uri);
  expect(['file:///pub/a', 'file://nas/share/a', 'file://localhost/pub/a'].map(judged)).toEqual([
    'allow',
    'allow',
    'deny',
  ]);
  expect(['file://pub/etc/passwd', 'file://pub@x/etc/passwd', 'file://nas/share/../a'].map(judged)).toEqual([
    'deny',
    'deny',
    'deny',
  ]);
});

test('ports, parameters and hosts of their own stay readable where no rule is about them', () => {
  const draft: ConfigurationDraft = {
    servers: { memo: {} },
    policy: { 'memo.resource:memo://board:7/*': 'deny', 'memo.resource:memo://a/b;v=1': 'deny' },
  };
  const uris = ['memo://board/minutes', 'memo://board:8/minutes', 'memo://a/b', 'memo://a/b;v=2', 'memo://a/b.'];
  for (const uri of uris) expect([uri, effect(draft, uri)]).toEqual([uri, 'allow']);
});

describe('a URI that no client needs to write', () => {
  const open = compilePolicy(draftConfiguration({ servers: { memo: {} } }), ['dev']);
  const problemOf = (uri: string): unknown => open.decideRead('memo', `resource:${uri}`, noForms).reason;
  const controls = [
    'a\0',
    'a%00',
    'a%2500b',
    'a%252500',
    'a%25%30%30',
    'a\tb',
    'a\u0085',
    'a%1b[0m',
    'a%C2%85',
    'a%7F',
  ];
  test.each(controls)('is refused for a control character: %j', (end) => {
    expect(problemOf(`memo://${end}`)).toEqual({ kind: 'unsafe-uri', problem: 'control-character' });
  });

  test('is refused where it is encoded more than three times', () => {
    expect(problemOf('memo://a%25252561')).toEqual({ kind: 'unsafe-uri', problem: 'encoded-too-often' });
    expect(problemOf(`memo://a%${'25'.repeat(500)}00`)).toEqual({ kind: 'unsafe-uri', problem: 'encoded-too-often' });
    for (const uri of ['memo://a%252561', 'memo://50%25', 'memo://a?q=one%0Atwo%09', 'memo://a%ff', 'memo://%zz%']) {
      expect([uri, problemOf(uri)]).toEqual([uri, { kind: 'default' }]);
    }
  });

  test('is refused where it can be read in too many ways and a rule might be about one of them', () => {
    const draft: ConfigurationDraft = { servers: { memo: {} }, policy: { 'memo.resource:memo://secret/*': 'deny' } };
    const policy = compilePolicy(draftConfiguration(draft), ['dev']);
    const uri = `memo://u@h:1/a//%252e%252e/./%2525e9%EF%AC%81/../;b?a/../b#c/..`;
    expect(policy.decideRead('memo', `resource:${uri}`, noForms).reason).toEqual({
      kind: 'unsafe-uri',
      problem: 'too-many-forms',
    });
    const usual = 'https://me:pw@host:8443/a%2Fb/%C3%BC/?q=1#part';
    expect(policy.decideRead('memo', `resource:${usual}`, noForms).effect).toBe('allow');
  });
});

test('a star that is encoded stands for itself', () => {
  const draft: ConfigurationDraft = { servers: { memo: {} }, policy: { 'memo.resource:memo://a%2Ab': 'deny' } };
  expect(['memo://a*b', 'memo://a%2ab', 'memo://axb'].map((uri) => effect(draft, uri))).toEqual([
    'deny',
    'deny',
    'allow',
  ]);
});

test(verifies('view:resources-hidden', 'no way to write a denied URI reads it, and others stay readable'), () => {
  const name = fc.constantFrom('vault', 'keys', 'a', 'b.c', 'x y', 'ü', 'root');
  const segments = fc.array(name, { minLength: 1, maxLength: 40, size: 'max' });
  fc.assert(
    fc.property(segments, fc.array(fc.nat(), { minLength: 400, maxLength: 400, size: 'max' }), (parts, dice) => {
      const uri = `memo://${parts.join('/')}`;
      const draft: ConfigurationDraft = { servers: { memo: {} }, policy: { [`memo.resource:${uri}`]: 'deny' } };
      const policy = compilePolicy(draftConfiguration(draft), ['dev']);
      const judged = (text: string): string => policy.decideRead('memo', `resource:${text}`, noForms).effect;
      expect(judged(respelt(parts, dice))).toBe('deny');
      expect(judged(`${uri}/other`)).toBe('allow');
    }),
    { numRuns: 400 },
  );
});

/** Another way to write `memo://` and these segments, as the dice fall. */
function respelt(parts: readonly string[], dice: readonly number[]): string {
  let thrown = 0;
  const pick = <T>(ways: readonly T[]): T => ways[(dice[thrown++ % dice.length] ?? 0) % ways.length] as T; // never empty
  const slash = (): string => pick(['/', '/', '/', '//', '/./', '%2F', '%252f', '\\', '/x/../', '/%2e/', '/\t']);
  const encode = (text: string): string =>
    [...text]
      .map((char) => pick([char, char, percent(char), percent(char).replaceAll('%', '%25'), `${char}\n`]))
      .join('');
  const body = parts
    .map((part) => encode(pick([part, part, part.normalize('NFD')])))
    .join('\0')
    .split('\0');
  const start = pick(['memo://', 'MEMO://', 'memo:///', 'memo:/', 'memo:', ' memo://', 'memo://x/../', 'memo://u@']);
  return `${start}${body.reduce((text, part) => `${text}${slash()}${part}`)}${pick(['', '', '#x', '?y', '/.', '/'])}`;
}

function percent(text: string): string {
  return [...Buffer.from(text)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('');
}

describe('the work on one URI', () => {
  test.each(['%25', '/..', '/./', '//', '%2e', 'a@', '\\', '/a/..', '%', '..', '?', '#', 'ﬃ', '%C3', '\0', ':'])(
    'gives a bounded number of forms, each no longer than the URI allows: %j',
    (piece) => {
      for (const length of [500, maxUriLength]) {
        const uri = `memo://${piece.repeat(length)}`.slice(0, length);
        const { exact, loose, spellings } = uriForms(uri);
        expect(exact.length).toBeLessThan(20);
        expect(loose.length).toBeLessThan(70);
        expect(spellings().length).toBeLessThan(70);
        for (const form of [...exact, ...loose]) expect(form.length).toBeLessThan(length * 4 + 10);
      }
    },
  );

  test('is not done for one that is too long', () => {
    const policy = compilePolicy(draftConfiguration({ servers: { memo: {} } }), ['dev']);
    const uri = `resource:${'memo://'.padEnd(maxUriLength + 1, 'x')}`;
    expect(policy.decideRead('memo', uri.slice(0, -1), noForms).effect).toBe('allow');
    expect(policy.decideRead('memo', uri, noForms)).toEqual({
      effect: 'deny',
      reason: { kind: 'too-long', limit: maxUriLength },
    });
  });
});
