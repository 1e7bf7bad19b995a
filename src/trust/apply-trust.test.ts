import { expect, test } from 'vitest';
import { verifies } from '../../test/support/verifies.ts';
import type { Configuration, ServerPlan } from '../domain/index.ts';
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
