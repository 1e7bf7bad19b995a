import { copyFile, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { verifies } from '../../../test/support/verifies.ts';
import { anApproval, describeApprovalStore, entryOf } from '../../approvals/approval-store.fixture.ts';
import { createSilentLogger, createSystemClock, systemRandom } from '../../base/index.ts';
import { createTextSeal } from '../../vault/index.ts';
import { ensureStateFolder } from '../files/state-folder.ts';
import { temporaryWorkspace } from '../files/temporary-workspace.fixture.ts';
import { type ApprovalLogFile, createFileApprovalStore } from './approval-log-file.ts';

async function openFolder() {
  const layout = await temporaryWorkspace();
  await ensureStateFolder(layout, { clock: createSystemClock(), random: systemRandom });
  const seal = createTextSeal({ random: systemRandom }, systemRandom(32), 'approvals');
  const deps = { logger: createSilentLogger(), random: systemRandom, seal };
  const open = (change?: (file: ApprovalLogFile) => ApprovalLogFile) => createFileApprovalStore(layout, deps, change);
  return { layout, open };
}

describeApprovalStore(async () => {
  const { open } = await openFolder();
  return { store: open(), reopen: async () => open() };
});

test(verifies('approvals:sealed', 'a copy of the log says nothing about calls'), async () => {
  const { layout, open } = await openFolder();
  const store = open();
  await store.load();
  await store.put(entryOf(anApproval('abcdef')));
  const text = await readFile(layout.approvals, 'utf8');
  for (const word of ['between-us', 'files', 'write', 'dev', 'abcdef']) expect(text).not.toContain(word);
});

test(verifies('approvals:store', 'a log that is cut anywhere has what was complete'), async () => {
  const { layout, open } = await openFolder();
  const store = open();
  await store.load();
  const sizes: number[] = [];
  for (const id of ['a', 'b', 'c']) {
    await store.put(entryOf(anApproval(id)));
    sizes.push((await readFile(layout.approvals)).length);
  }
  const whole = await readFile(layout.approvals);
  const [first = 0] = sizes;
  for (let size = whole.length; size >= first; size -= 37) {
    await writeFile(layout.approvals, whole);
    await truncate(layout.approvals, size);
    const cut = open();
    const { entries } = await cut.load();
    expect(entries).toHaveLength(sizes.filter((end) => end <= size).length);
    expect(await cut.put(entryOf(anApproval('later')))).toBe(true);
    expect((await open().load()).entries).toHaveLength(entries.length + 1);
  }
});

test.each([
  [
    'a changed byte',
    (lines: string[]) => lines.map((line, index) => (index === 2 ? line.replace(/.{6}$/, 'AAA="}') : line)),
  ],
  ['two lines in another order', ([head = '', one = '', two = '', ...rest]: string[]) => [head, two, one, ...rest]],
  ['a line left out', ([head = '', , ...rest]: string[]) => [head, ...rest]],
  ['text that is no log', () => ['hello', '']],
])(verifies('approvals:sealed', 'a log with %s approves nothing, and is put aside'), async (_what, change) => {
  const { layout, open } = await openFolder();
  const store = open();
  await store.load();
  for (const id of ['a', 'b', 'c']) await store.put(entryOf(anApproval(id)));
  const lines = (await readFile(layout.approvals, 'utf8')).split('\n');
  await writeFile(layout.approvals, change(lines).join('\n'));
  const next = open();
  expect((await next.load()).entries).toEqual([]);
  await readFile(`${layout.approvals}.damaged`);
  expect(await next.put(entryOf(anApproval('d')))).toBe(true);
  expect((await open().load()).entries).toHaveLength(1);
});

test(verifies('approvals:sealed', 'an earlier copy of the log, or one without its epoch, is not current'), async () => {
  const { layout, open } = await openFolder();
  const store = open();
  await store.load();
  await store.put(entryOf(anApproval('a')));
  const copy = `${layout.approvals}.copy`;
  await copyFile(layout.approvals, copy);
  const next = open();
  await next.load();
  await next.begin();
  expect(await open().load()).toMatchObject({ isCurrent: true });
  await copyFile(copy, layout.approvals);
  expect(await open().load()).toMatchObject({ isCurrent: false });
  await rm(layout.approvalsEpoch);
  expect(await open().load()).toMatchObject({ isCurrent: false });
});

test(
  verifies('approvals:store', 'the log is written anew before it grows without bound, and stays the same'),
  async () => {
    const { layout, open } = await openFolder();
    const store = open();
    await store.load();
    const long = { ...anApproval('a').binding, arguments: JSON.stringify('x'.repeat(50_000)) };
    await store.put(entryOf(anApproval('a', { binding: long })));
    for (let version = 2; version < 60; version++)
      await store.put(entryOf(anApproval('a', { version, binding: long })));
    expect((await readFile(layout.approvals)).length).toBeLessThan(1_400_000);
    expect((await open().load()).entries).toMatchObject([{ value: { version: 59 } }]);
  },
);

test(
  verifies('approvals:full-disk', 'what cannot be written is refused, and the next write repairs the log'),
  async () => {
    const { open } = await openFolder();
    let isFull = false;
    const noRoom = Object.assign(new Error('no room'), { code: 'ENOSPC' });
    const store = open((file) => ({
      ...file,
      append: (...given) => (isFull ? Promise.reject(noRoom) : file.append(...given)),
      replace: (...given) => (isFull ? Promise.reject(noRoom) : file.replace(...given)),
    }));
    await store.load();
    await store.put(entryOf(anApproval('a')));
    isFull = true;
    await expect(store.put(entryOf(anApproval('b')))).rejects.toMatchObject({ code: 'APPROVAL_UNAVAILABLE' });
    isFull = false;
    expect(await store.put(entryOf(anApproval('b')))).toBe(true);
    expect((await open().load()).entries).toHaveLength(2);
  },
);

test(verifies('approvals:store', 'a log that was deleted under the hub is written again'), async () => {
  const { layout, open } = await openFolder();
  const store = open();
  await store.load();
  await store.put(entryOf(anApproval('a')));
  await rm(layout.approvals);
  expect(await store.put(entryOf(anApproval('b')))).toBe(true);
  expect((await open().load()).entries).toHaveLength(2);
});
