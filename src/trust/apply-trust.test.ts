import { expect, test } from 'vitest';
import { verifies } from '../../test/support/verifies.ts';
import type { Configuration, ServerPlan } from '../domain/index.ts';
import { compilePolicy } from '../governance/index.ts';
import { draftConfiguration } from '../governance/policy/configuration.fixture.ts';
import { type ApprovedVersions, applyTrust } from './apply-trust.ts';
import { type TrustItem, trustItems } from './trust-item.ts';

const reaching: ServerPlan = { transports: [], values: new Map(), files: [], reaches: ['/home/me/.ssh'] };

function itemsOf(configuration: Configuration): readonly TrustItem[] {
  return trustItems({ configuration, plans: new Map([['files', reaching]]) }, new Uint8Array(32));
}

function allowing(...allowPaths: string[]): Configuration {
  return { ...draftConfiguration({ servers: { files: {} } }), allowPaths };
}

/** The server is approved as it is, and these rules are. */
function versionsOf(rules: Configuration, server: readonly TrustItem[]): ApprovedVersions {
  const items = itemsOf(rules);
  const item = items.find(({ kind }) => kind === 'policy');
  const hashes = new Set([item?.hash, ...server.flatMap((each) => (each.kind === 'server' ? [each.hash] : []))]);
  return {
    isApproved: ({ hash }) => hashes.has(hash),
    isDeclined: () => false,
    server: () => undefined,
    policy: { state: 'approved', item: item?.kind === 'policy' ? item : undefined, rules, settings: rules },
  };
}

test.each([
  [['/home/me'], ['/home/me'], 'ready'],
  [['/home/me', '/srv'], ['/home/me'], 'ready'],
  [[], ['/home/me'], 'untrusted'],
  [['/srv'], ['/home/me'], 'untrusted'],
])(
  verifies('trust:openings', 'approved paths %j, on disk %j: a server that reaches keys is %s'),
  (approved, onDisk, kind) => {
    const configuration = allowing(...onDisk);
    const items = itemsOf(configuration);
    const versions = versionsOf(allowing(...approved), items);
    const judged = applyTrust(configuration, items, { versions, trustsPlans: false });
    expect(judged.configuration.servers.get('files')?.kind).toBe(kind);
    for (const path of judged.configuration.allowPaths) expect(approved).toContain(path);
  },
);

function ruled(policies: Pick<Configuration, 'policy' | 'shadow'>): Configuration {
  return { ...draftConfiguration({ servers: { files: {} } }), ...policies };
}

const source = { file: 'quartermaster.yaml', line: 1 };
const denying = { source, rules: [{ pattern: 'files.write', effect: 'deny', source }] } as const;

test(verifies('shadow:trust', 'rules that become a shadow stay enforced until that is approved'), () => {
  const [before, after] = [ruled({ policy: denying }), ruled({ policy: undefined, shadow: denying })];
  const judged = applyTrust(after, itemsOf(after), {
    versions: versionsOf(before, itemsOf(after)),
    trustsPlans: false,
  });
  expect(judged.pending.map(({ item }) => item.kind)).toEqual(['policy']);
  const decide = (configuration: Configuration) =>
    compilePolicy(configuration, ['dev']).decide('files', 'write', 'files_write', null);
  expect(decide(judged.configuration).effect).toBe('deny');
  expect(decide(after).effect).toBe('allow');
  // It is tried with what is enforced meanwhile.
  expect(decide(judged.configuration).shadow?.({ args: {} }).effect).toBe('deny');
});

test('the text of a shadow policy is part of what is approved', () => {
  const hashes = [
    ruled({ policy: denying }),
    ruled({ policy: denying, shadow: denying }),
    ruled({ policy: denying, shadow: { source, rules: [] } }),
  ].map((configuration) => itemsOf(configuration).find(({ kind }) => kind === 'policy')?.hash);
  expect(new Set(hashes).size).toBe(3);
});
