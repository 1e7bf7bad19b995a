import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Configuration, ConfiguredServer, Decision, ServerPlan, ServerSpec } from '../../../src/domain/index.ts';
import { createPolicyCompiler } from '../../../src/governance/index.ts';
import {
  type ConfigurationDraft,
  type ConfiguredServerDraft,
  draftConfiguration,
} from '../../../src/governance/policy/configuration.fixture.ts';
import { type ApprovedVersions, applyTrust, type TrustItem, trustItems } from '../../../src/trust/index.ts';
import { verifies } from '../../support/verifies.ts';

const servers = ['files', 'github', 'db'] as const;
const tools = ['read_file', 'write_file', 'drop'] as const;
const agents = ['tester', 'lead', 'stranger'] as const;
const reads = ['resource:file:///a', 'resource:db://b', 'prompt:hello', 'prompt:drop'] as const;
const key = Buffer.alloc(32, 7);

const names = fc.uniqueArray(fc.constantFrom(...tools, '*', 'read_*'), { maxLength: 3 });
const most = fc.constantFrom([...tools], ['*'], ['*', 'resource:*']);
const filter = fc.record(
  { include: fc.oneof(most, names), exclude: fc.oneof(fc.constant([]), names) },
  { requiredKeys: [] },
);
const effect = fc.constantFrom('allow' as const, 'allow' as const, 'require-approval' as const, 'deny' as const);
const pattern = fc.constantFrom(
  '*',
  '*.drop',
  'files.*',
  'files.write_file',
  'github.read_file',
  'db.drop',
  '*.resource:*',
  '*.prompt:*',
  'files.resource:file:///a',
  'db.prompt:drop',
);
const policy = fc.dictionary(pattern, effect, { maxKeys: 4 });

const server: fc.Arbitrary<ConfiguredServerDraft> = fc.record(
  {
    enabled: fc.constantFrom(true, true, false),
    shared: fc.boolean(),
    tools: filter,
    access: fc.record(
      {
        scopes: fc.option(fc.uniqueArray(fc.constantFrom('read:x', 'write:x'), { maxLength: 2 }), { nil: undefined }),
        readOnly: fc.boolean(),
        writeRequiresApproval: fc.boolean(),
        trustAnnotations: fc.boolean(),
      },
      { requiredKeys: [] },
    ),
    transport: fc.constantFrom(
      { type: 'http' as const, url: 'http://one.example', headers: {} },
      { type: 'http' as const, url: 'http://two.example', headers: {} },
    ),
  },
  { requiredKeys: ['transport'] },
);

const agent = fc.record(
  {
    servers: fc.oneof(
      fc.constant([...servers]),
      fc.constant(undefined),
      fc.uniqueArray(fc.constantFrom(...servers), { maxLength: 3 }),
    ),
    tools: fc.dictionary(fc.constantFrom(...servers), filter, { maxKeys: 2 }),
    policy,
  },
  { requiredKeys: [] },
);

const configuration: fc.Arbitrary<ConfigurationDraft> = fc.record(
  {
    servers: fc.dictionary(fc.constantFrom(...servers), server, { minKeys: 2, maxKeys: 3 }),
    agents: fc.dictionary(fc.constantFrom('tester', 'lead', 'reader'), agent, { maxKeys: 3 }),
    roles: fc.dictionary(fc.constantFrom(...agents), fc.constantFrom('reader', 'lead'), { maxKeys: 2 }),
    policy,
  },
  { requiredKeys: ['servers'] },
);

function itemsOf(config: Configuration): readonly TrustItem[] {
  const plans = new Map<string, ServerPlan>();
  for (const [name, entry] of config.servers) {
    if (entry.kind === 'ready') plans.set(name, planOf(entry.spec));
  }
  return trustItems({ configuration: config, plans }, key);
}

function planOf({ transport }: ServerSpec): ServerPlan {
  const url = transport.type === 'http' ? transport.url : '';
  const plan = { type: transport.type, texts: [['url', url] as const], variables: [], runsFolderCode: false };
  return { transports: [plan], values: new Map(), files: [], reaches: [] };
}

/** Everything in the first configuration, and these items of the second, were approved. */
function versionsOf(approved: Configuration, later: ReadonlySet<string>): ApprovedVersions {
  const items = itemsOf(approved);
  const hashes = new Set([...items.map(({ hash }) => hash), ...later]);
  return {
    isApproved: ({ hash }) => hashes.has(hash),
    isDeclined: () => false,
    server(name) {
      const item = items.find((each) => each.kind === 'server' && each.name === name);
      return item?.kind === 'server' ? { item, files: [] } : undefined;
    },
    policy: { state: 'approved', item: undefined, rules: approved, settings: approved },
  };
}

const strictness = { allow: 0, ask: 1, deny: 2 } as const;

/** What an agent gets of a server: nothing unless it runs. */
function rightsIn(config: Configuration): (agent: string, server: string, subject: string) => Decision['effect'] {
  const compile = createPolicyCompiler(config);
  return (name, on, subject) => {
    const entry = config.servers.get(on);
    if (entry?.kind !== 'ready' || !entry.spec.enabled) return 'deny';
    const rights = compile([name]);
    if (!rights.seesServer(on)) return 'deny';
    if (subject.includes(':')) return rights.decideRead(on, subject).effect;
    const hints = { readOnly: subject === 'read_file' || undefined, destructive: undefined, idempotent: undefined };
    return rights.decide(on, subject, `${on}_${subject}`, hints as never).effect;
  };
}

/** The rules of one version over a server of another: an item that was approved keeps its own rights. */
function withServer(config: Configuration, name: string, from: Configuration): Configuration {
  const entry = from.servers.get(name);
  return entry === undefined ? config : { ...config, servers: new Map([...config.servers, [name, entry]]) };
}

test(verifies('trust:rights', 'with a pending change no agent can do anything that either configuration forbids'), {
  timeout: 120_000,
}, () => {
  let [narrowed, open] = [0, 0];
  fc.assert(
    fc.property(configuration, configuration, fc.boolean(), (first, second, approvesServers) => {
      const [before, after] = [draftConfiguration(first), draftConfiguration(second)];
      const items = itemsOf(after);
      const later = new Set(
        approvesServers ? items.flatMap((item) => (item.kind === 'server' ? [item.hash] : [])) : [],
      );
      for (const trustsPlans of [false, true]) {
        const judged = applyTrust(after, items, { versions: versionsOf(before, later), trustsPlans });
        const now = rightsIn(judged.configuration);
        for (const on of servers) {
          // A server of the second configuration that was approved, or is new where servers need no approval.
          const isNew = approvesServers || (trustsPlans && !before.servers.has(on));
          const [one, two] = [rightsIn(isNew ? withServer(before, on, after) : before), rightsIn(after)];
          for (const name of agents) {
            for (const subject of [...tools, ...reads]) {
              const got = now(name, on, subject);
              const limits = [one(name, on, subject), two(name, on, subject)];
              const least = Math.max(...limits.map((limit) => strictness[limit]));
              expect(strictness[got], `${name} ${on} ${subject}: ${got} of ${limits}`).toBeGreaterThanOrEqual(least);
              if (least === 2) narrowed += 1;
              else if (got !== 'deny') open += 1;
            }
          }
        }
      }
    }),
    { numRuns: 400 },
  );
  // The generator reaches both: what is forbidden, and what stays allowed.
  expect(narrowed).toBeGreaterThan(1000);
  expect(open).toBeGreaterThan(300);
});

const amount = fc.integer({ min: 1, max: 1000 });
const limited = fc.record({
  limits: fc.record({
    timeoutMs: amount,
    maxMs: amount,
    concurrency: amount,
    ratePerMin: fc.option(amount, { nil: undefined }),
    graceMs: amount,
  }),
  isolation: fc.constantFrom('shared' as const, 'per-agent' as const, 'per-session' as const),
  roots: fc.constantFrom('none' as const, 'client' as const),
  cache: fc.option(
    fc.record({
      ttlMs: amount,
      maxBytes: amount,
      tools: fc.option(fc.uniqueArray(fc.constantFrom(...tools)), { nil: undefined }),
      resources: fc.boolean(),
    }),
    { nil: undefined },
  ),
});
const served = fc.record({
  allowedHosts: fc.uniqueArray(fc.constantFrom('a', 'b', 'c')),
  allowedOrigins: fc.uniqueArray(fc.constantFrom('a', 'b', 'c')),
  maxBodyBytes: amount,
  clientSessionIdleMs: amount,
  maxClientSessions: amount,
});
const retention = fc.record({ days: fc.integer({ min: 1, max: 99 }), megabytes: fc.integer({ min: 32, max: 9999 }) });
const sync = fc.record({ sync: fc.constantFrom('os' as const, 'always' as const), keep: retention, runs: retention });
const allowed = fc.uniqueArray(fc.constantFrom('/a', '/b', '~/c'));

const limitedConfiguration = fc
  .tuple(configuration, fc.array(limited, { minLength: 3, maxLength: 3 }), served, sync, allowed)
  .map(([draft, own, serve, kept, allowPaths]): Configuration => {
    const config = draftConfiguration(draft);
    const entries = [...config.servers].map(([name, entry], index): [string, ConfiguredServer] => [
      name,
      entry.kind === 'ready' ? { kind: 'ready', spec: { ...entry.spec, ...own[index] } } : entry,
    ]);
    return { ...config, servers: new Map(entries), serve, ledger: { ...kept }, allowPaths };
  });

const isolations = ['shared', 'per-agent', 'per-session'];

test(verifies('trust:rights', 'with a pending change no limit or setting is wider than in either configuration'), {
  timeout: 120_000,
}, () => {
  let compared = 0;
  fc.assert(
    fc.property(limitedConfiguration, limitedConfiguration, fc.boolean(), (before, after, trustsPlans) => {
      const judged = applyTrust(after, itemsOf(after), { versions: versionsOf(before, new Set()), trustsPlans });
      const now = judged.configuration;
      for (const each of [before, after]) {
        expect(each.serve.allowedHosts).toEqual(expect.arrayContaining([...now.serve.allowedHosts]));
        expect(each.serve.allowedOrigins).toEqual(expect.arrayContaining([...now.serve.allowedOrigins]));
        for (const limit of ['maxBodyBytes', 'clientSessionIdleMs', 'maxClientSessions'] as const)
          expect(now.serve[limit]).toBeLessThanOrEqual(each.serve[limit]);
        if (each.ledger.sync === 'always') expect(now.ledger.sync).toBe('always');
        for (const files of ['keep', 'runs'] as const) {
          expect(now.ledger[files].days).toBeGreaterThanOrEqual(each.ledger[files].days);
          expect(now.ledger[files].megabytes).toBeGreaterThanOrEqual(each.ledger[files].megabytes);
        }
        expect(each.allowPaths).toEqual(expect.arrayContaining([...now.allowPaths]));
        for (const name of servers) {
          const [got, of] = [now.servers.get(name), each.servers.get(name)];
          if (got?.kind !== 'ready' || of?.kind !== 'ready' || !before.servers.has(name)) continue;
          // It does not run.
          if (!got.spec.enabled) continue;
          compared += 1;
          const { limits, cache, isolation, roots } = got.spec;
          if (of.spec.roots === 'none') expect(roots).toBe('none');
          for (const limit of ['timeoutMs', 'maxMs', 'concurrency', 'graceMs'] as const)
            expect(limits[limit], limit).toBeLessThanOrEqual(of.spec.limits[limit]);
          const most = Number.POSITIVE_INFINITY;
          expect(limits.ratePerMin ?? most).toBeLessThanOrEqual(of.spec.limits.ratePerMin ?? most);
          expect(isolations.indexOf(isolation)).toBeGreaterThanOrEqual(isolations.indexOf(of.spec.isolation));
          if (cache === undefined) continue;
          expect(cache.ttlMs).toBeLessThanOrEqual(of.spec.cache?.ttlMs ?? 0);
          expect(cache.maxBytes).toBeLessThanOrEqual(of.spec.cache?.maxBytes ?? 0);
          expect(of.spec.cache?.resources === true || !cache.resources).toBe(true);
          const listed = of.spec.cache?.tools;
          if (listed !== undefined) expect(listed).toEqual(expect.arrayContaining([...(cache.tools ?? ['none'])]));
        }
      }
    }),
    { numRuns: 500 },
  );
  expect(compared).toBeGreaterThan(300);
});

test(verifies('trust:rights', 'approved files take effect as written'), () => {
  fc.assert(
    fc.property(configuration, (draft) => {
      const config = draftConfiguration(draft);
      const judged = applyTrust(config, itemsOf(config), {
        versions: versionsOf(config, new Set()),
        trustsPlans: false,
      });
      expect(judged.pending).toEqual([]);
      expect(judged.configuration).toEqual(config);
    }),
    { numRuns: 200 },
  );
});
