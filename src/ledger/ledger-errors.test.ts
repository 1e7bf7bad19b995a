import { chmodSync, mkdirSync, mkdtempSync, openSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createSilentLogger, createSystemClock, HubError, systemRandom } from '../base/index.ts';
import { createRedactor } from '../vault/index.ts';
import { type Ledger, type LedgerFiles, ledgerConnection, ledgerSubject, openLedger } from './index.ts';
import { recordNotWritten } from './ledger-errors.ts';

const subject = ledgerSubject({ agent: 'a', chain: ['a'], server: 's', tool: 't', decision: 'allow' });
const connection = ledgerConnection({ transport: 'stdio', protocolVersion: null, sessionId: null });

/** A folder whose name nobody would think of when cutting paths out of a text. */
const oddName = "the hub's (own) state, part 2";

interface Stage {
  readonly root: string;
  readonly state: string;
  readonly journal: string;
}

/** What may keep the journal from coming back, and what agents are told of it. */
const obstacles: readonly [string, string, (stage: Stage) => void][] = [
  ['the state folder is open to others', 'can be written by other users', ({ state }) => open(state)],
  ['the journal folder is open to others', 'can be written by other users', ({ journal }) => open(journal)],
  ['a file is in the place of the state folder', 'is not a folder', ({ state }) => writeFileSync(state, '')],
  ['a file is in the place of the journal folder', 'is not a folder', ({ state, journal }) => block(state, journal)],
  ['a link is in the place of the state folder', 'is a symbolic link', ({ root, state }) => symlinkSync(root, state)],
  ['the root is gone', 'ENOENT', ({ root }) => rmSync(root, { recursive: true })],
];

test.each(obstacles)('%s: agents read the reason and no path', async (_what, reason, plant) => {
  const stage = newStage();
  const ledger = await openIn(stage);
  rmSync(stage.state, { recursive: true });
  plant(stage);
  await vi.waitFor(() => expect(ledger.health).not.toBe('good'), { timeout: 10_000 });
  await ledger.flush().catch(() => {});
  const error = await refusal(ledger);
  expect(error.message).toContain(reason);
  expectNoPath(error);
});

test.each(['EACCES', 'ENOSPC', 'EROFS'])('%s while a file is made: no path', async (code) => {
  const stage = newStage();
  let broken = false;
  const ledger = await openIn(stage, {
    create(folder, name) {
      if (!broken) return folder.open(name, 'create');
      const path = join(folder.path, name);
      throw Object.assign(new Error(`${code}: it does not work, open '${path}'`), { code, path, syscall: 'open' });
    },
  });
  broken = true;
  rmSync(stage.journal, { recursive: true });
  await refusal(ledger);
  await ledger.flush().catch(() => {});
  const error = await refusal(ledger);
  expect(error.message).toContain(`(${code}: it does not work, open)`);
  expectNoPath(error);
});

test('the reason of a system call and the hint without a path are told as they are', () => {
  const missing = attempt(() => openSync(`/nowhere/${oddName}/x`, 'r'));
  expect(recordNotWritten(missing)).toMatchObject({
    message: 'The call was not sent: recording it failed (ENOENT: no such file or directory, open).',
    hint: 'Free disk space or repair the folder. The hub tries again automatically.',
  });
  const details = { path: '/a b/state' };
  expect(
    recordNotWritten(new HubError('CONFIG_INVALID', '/a b/state is a link.', { hint: 'Remove it.', details })),
  ).toMatchObject({
    message: 'The call was not sent: recording it failed (a place of the journal is a link).',
    hint: 'Remove it. The hub tries again automatically.',
  });
});

test.each([
  new Error('no luck with /home/me/my state/x'),
  new HubError('CONFIG_INVALID', 'In C:\\state nothing can be written.', { hint: 'Run `chmod go-w /home/me`.' }),
  new HubError('CONFIG_INVALID', '/a is the same as /b.', { details: { path: '/a' } }),
  Object.assign(new Error('/home/me is full'), { code: 'ENOSPC' }),
  '/home/me',
])('of any other error agents read only that it is in the log: %s', (cause) => {
  const error = recordNotWritten(cause);
  expect(error.message).toContain('the log of the hub says why');
  expectNoPath(error);
});

function newStage(): Stage {
  const parent = mkdtempSync(join(tmpdir(), 'qm-ledger-errors-'));
  onTestFinished(() => rmSync(parent, { recursive: true }));
  const root = join(parent, oddName);
  mkdirSync(root);
  return { root, state: join(root, 'state'), journal: join(root, 'state/journal') };
}

async function openIn({ root }: Stage, files: Partial<LedgerFiles> = {}): Promise<Ledger> {
  const deps = {
    clock: createSystemClock(),
    logger: createSilentLogger(),
    random: systemRandom,
    redact: createRedactor([]),
    files,
  };
  const places = { workspace: root, journal: { root, names: ['state', 'journal'] } };
  const ledger = await openLedger(deps, { ...places, sync: 'os' });
  onTestFinished(() => ledger.close());
  return ledger;
}

async function refusal(ledger: Ledger): Promise<HubError> {
  const error: unknown = await ledger.sent(ledger.open(subject, 'run', '{}'), connection).catch((reason) => reason);
  if (!(error instanceof HubError)) throw new Error('The call was not refused.');
  return error;
}

function expectNoPath({ message, hint, details }: HubError): void {
  const text = JSON.stringify([message, hint, details]);
  expect(text).not.toMatch(/[/\\]|own|part 2/);
}

function open(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  chmodSync(folder, 0o777);
}

function block(state: string, journal: string): void {
  mkdirSync(state, { mode: 0o700 });
  writeFileSync(journal, '');
}

function attempt(act: () => unknown): unknown {
  try {
    return act();
  } catch (error) {
    return error;
  }
}
