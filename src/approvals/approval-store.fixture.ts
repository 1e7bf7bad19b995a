import { expect, test } from 'vitest';
import { verifies } from '../../test/support/verifies.ts';
import type { ApprovalStore, StoredEntry } from './approval-store.ts';
import type { CallApproval } from './model/call-approval.ts';

/** An open approval; equal ids are the same approval. */
export function anApproval(id: string, more: Partial<CallApproval> = {}): CallApproval {
  return {
    id,
    version: 1,
    callKey: `key of ${id}`,
    binding: {
      project: 'workspace',
      chain: ['dev'],
      run: 'run:r1',
      server: 'files',
      subject: 'write',
      credential: 'c1',
      definition: 'd1',
      rule: 'files.*',
      arguments: '{"secret":"between-us"}',
      inputs: '',
    },
    question: { runId: 'r1', rule: 'files.*', ruleSource: null, toolClass: 'write', asker: 'operator' },
    opened: 1000,
    expires: 2000,
    seen: [],
    state: { kind: 'open' },
    ...more,
  };
}

export function entryOf(value: CallApproval): StoredEntry {
  return { kind: 'approval', value };
}

/** What every store of approvals does. `reopen` opens the same one again, as after a restart. */
export function describeApprovalStore(
  open: () => Promise<{ store: ApprovalStore; reopen(): Promise<ApprovalStore> }>,
): void {
  const second = anApproval('a', { version: 2, state: { kind: 'void', at: 1, why: 'test' } });

  test(verifies('approvals:store', 'what was put is there after a restart, in its newest version'), async () => {
    const { store, reopen } = await open();
    expect(await store.load()).toEqual({ entries: [], isCurrent: true });
    expect(await store.put(entryOf(anApproval('a')))).toBe(true);
    expect(await store.put(entryOf(anApproval('b')))).toBe(true);
    expect(await store.put(entryOf(second))).toBe(true);
    const { entries, isCurrent } = await (await reopen()).load();
    expect(isCurrent).toBe(true);
    expect(entries.map(({ value }) => value)).toEqual([second, anApproval('b')]);
  });

  test(verifies('approvals:store', 'of two changes of one version one is stored'), async () => {
    const { store, reopen } = await open();
    await store.load();
    await store.put(entryOf(anApproval('a')));
    const other = { ...second, state: { kind: 'expired', at: 2 } } as const;
    expect(await Promise.all([store.put(entryOf(second)), store.put(entryOf(other))])).toEqual([true, false]);
    expect(await store.put(entryOf(anApproval('a')))).toBe(false);
    expect(await store.put(entryOf(anApproval('c', { version: 2 })))).toBe(false);
    const { entries } = await (await reopen()).load();
    expect(entries.map(({ value }) => value)).toEqual([second]);
  });

  test(verifies('approvals:store', 'what was removed is gone'), async () => {
    const { store, reopen } = await open();
    await store.load();
    await Promise.all(['a', 'b', 'c'].map((id) => store.put(entryOf(anApproval(id)))));
    await store.remove(['a', 'c']);
    const { entries } = await (await reopen()).load();
    expect(entries.map(({ value }) => value.id)).toEqual(['b']);
  });
}
