import fc from 'fast-check';
import { expect, test } from 'vitest';
import { verifies } from '../../test/support/verifies.ts';
import { draftConfiguration } from '../governance/policy/configuration.fixture.ts';
import { type ApprovalContext, approve, decline, hashesOf, mostApprovals, mostBranches } from './change-trust.ts';
import { countApprovals } from './counting-approvals.ts';
import { revoke, revokeEarlier, withdraw } from './revoke-trust.ts';
import { identityOf, type TrustItem } from './trust-item.ts';
import type { Approval, TrustRecord } from './trust-store.ts';

const empty: TrustRecord = { approvals: [], declined: [], main: undefined };
const server = draftConfiguration({ servers: { one: {} } }).servers.get('one');
if (server?.kind !== 'ready') throw new Error('the draft has the server');
const { spec } = server;
const plan = { transports: [], values: new Map(), files: [], reaches: [] };

/** An item in one of its versions, whose hash says what it is. */
function item(name: string, version: number): TrustItem {
  const hash = `${name}${version}`;
  return name === ''
    ? { kind: 'policy', hash: `rules${version}`, file: '', rights: {} }
    : { kind: 'server', name, hash, plan, spec, rights: {} };
}

/** Approves these versions, which are on disk, and is as blind to other branches as a workspace without a worktree. */
function approving(record: TrustRecord, act: ApprovalContext, items: readonly TrustItem[], all = items): TrustRecord {
  const names = new Set(all.flatMap((each) => (each.kind === 'server' ? [each.name] : [])));
  const order = {
    ...act,
    items,
    all,
    names,
    isRemoval: false,
    coversRules: true,
    snapshot: 's'.repeat(16),
    inMain: [],
  };
  return approve(record, order);
}

function countingIn(record: TrustRecord, branch: string): (of: TrustItem) => readonly (string | undefined)[] {
  const { approvals } = record;
  const counting = countApprovals({ approvals, branch, declined: hashesOf(record.declined) });
  return (of) => counting(of).map(({ hash }) => hash);
}

const branches = ['main', 'feature', 'other'];
const names = ['one', 'two', ''];
const version = fc.integer({ min: 1, max: 3 });
const disk = fc.tuple(version, version, version, fc.subarray(names));
const act = fc.oneof(
  fc.record({ kind: fc.constant('approve' as const), disk, chosen: fc.subarray(names) }),
  fc.record({ kind: fc.constant('decline' as const), disk, chosen: fc.subarray(['one', 'two']) }),
  fc.record({ kind: fc.constant('withdraw' as const), chosen: fc.subarray(['one', 'two']) }),
  fc.record({ kind: fc.constant('revoke' as const), chosen: fc.subarray(['one', 'two']) }),
  fc.record({ kind: fc.constant('earlier' as const), chosen: fc.subarray(names) }),
);
const steps = fc.array(fc.tuple(fc.constantFrom(...branches), act), { size: 'max', maxLength: 25 });

function itemsOf([one, two, rules, present]: readonly [number, number, number, readonly string[]]): TrustItem[] {
  const servers = [item('one', one), item('two', two)].filter(
    (each) => each.kind === 'server' && present.includes(each.name),
  );
  return [...servers, item('', rules)];
}

test(verifies('trust:latest', 'whatever was approved, on its branch only the last word about an item counts'), () => {
  let [superseded, elsewhere] = [0, 0];
  fc.assert(
    fc.property(steps, (all) => {
      let record = empty;
      for (const [at, [branch, step]] of all.entries()) {
        const doing = { branch, at, how: 'command' } as const;
        const isChosen = (each: TrustItem): boolean => step.chosen.includes(each.kind === 'server' ? each.name : '');
        if (step.kind === 'approve') {
          const onDisk = itemsOf(step.disk);
          record = approving(record, doing, onDisk.filter(isChosen), onDisk);
          for (const each of onDisk.filter(isChosen)) expect(countingIn(record, branch)(each)).toEqual([each.hash]);
          // No server is approved without rules.
          if (record.approvals.some(({ hash }) => hash !== undefined))
            expect(countingIn(record, branch)(item('', 1))).toHaveLength(1);
        } else if (step.kind === 'decline') {
          const declined = itemsOf(step.disk).filter(isChosen);
          record = decline(record, { ...doing, items: declined });
          for (const each of declined)
            for (const on of branches) expect(countingIn(record, on)(each)).not.toContain(each.hash);
        } else if (step.kind === 'withdraw') {
          record = withdraw(record, step.chosen, doing);
          for (const name of step.chosen) expect(countingIn(record, branch)(item(name, 1))).toEqual([]);
        } else {
          const isMeant = (each: { kind: string; name?: string }): boolean => step.chosen.includes(each.name ?? '');
          const order = { ...doing, isMeant, inMain: [] };
          const before = countingIn(record, branch);
          const kept = new Map(step.chosen.map((name) => [name, before(item(name, 1))[0]]));
          record = step.kind === 'revoke' ? revoke(record, order) : revokeEarlier(record, order);
          for (const on of branches)
            for (const [name, hash] of kept) {
              const expected = step.kind === 'revoke' || hash === undefined ? [] : [hash];
              expect(countingIn(record, on)(item(name, 1))).toEqual(expected);
            }
        }
        const keys = record.approvals.map((each) => `${each.branch} ${identityOf(each)}`);
        expect(new Set(keys).size).toBe(keys.length);
        for (const on of branches)
          for (const name of names) {
            const counting = countingIn(record, on)(item(name, 1));
            const here = record.approvals.find((each) => each.branch === on && each.name === name);
            if (here !== undefined) expect(counting.length).toBeLessThanOrEqual(1);
            if (here !== undefined && record.approvals.some((each) => each.name === name && each.hash !== here.hash))
              superseded += 1;
            if (here === undefined && counting.length > 1) elsewhere += 1;
          }
      }
    }),
    { numRuns: 300 },
  );
  expect(superseded).toBeGreaterThan(100);
  expect(elsewhere).toBeGreaterThan(20);
});

test('branches and approvals are bounded, and the newest ones stay', () => {
  let record = empty;
  for (let at = 0; at < mostBranches + 20; at += 1) {
    record = approving(record, { branch: `b${at}`, at, how: 'command' }, [item('one', at), item('', 1)]);
  }
  expect(new Set(record.approvals.map(({ branch }) => branch)).size).toBe(mostBranches);
  expect(countingIn(record, `b${mostBranches + 19}`)(item('one', 1))).toEqual([`one${mostBranches + 19}`]);
  const many = Array.from({ length: mostApprovals }, (_, index) => item(`s${index}`, 1));
  record = approving(record, { branch: 'b0', at: 1000, how: 'command' }, [...many, item('', 1)]);
  expect(new Set(record.approvals.map(({ branch }) => branch))).toEqual(new Set(['b0']));
  // A server that is gone is remembered, too, and not for ever.
  const gone = approving(record, { branch: 'b0', at: 2000, how: 'command' }, [item('', 1)]);
  expect(gone.approvals.length).toBeLessThanOrEqual(mostApprovals + 1);
});

test('of two approvals of the same branch, the later one counts, in a worktree and its main checkout', () => {
  const approval = (hash: string, at: number): Approval => ({
    ...{ kind: 'server', name: 'one', branch: 'main', how: 'command', pin: undefined },
    hash,
    at,
  });
  for (const approvals of [
    [approval('old', 1), approval('new', 2)],
    [approval('new', 2), approval('old', 1)],
  ]) {
    const counting = countApprovals({ approvals, branch: 'elsewhere', declined: new Set() });
    expect(counting({ kind: 'server', name: 'one' }).map(({ hash }) => hash)).toEqual(['new']);
  }
});
