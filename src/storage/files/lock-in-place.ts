import { hostname } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import {
  type Clock,
  createId,
  createSystemClock,
  HubError,
  type RandomBytes,
  sleep,
  systemRandom,
} from '../../base/index.ts';
import { fileError } from './file-error.ts';
import { readSmallFile } from './json-document.ts';
import type { WorkspaceLayout } from './layout.ts';
import { identifyThisProcess, isRunning } from './process-identity.ts';
import { openFolderOf, statePlaceName } from './state-place.ts';
import { createFileOnce, removeFile } from './write-file.ts';

export interface LockOptions {
  readonly clock?: Clock;
  readonly random?: RandomBytes;
  /** Default: 5 s. */
  readonly waitMs?: number;
  readonly signal?: AbortSignal;
}

export interface Lock {
  /** May be called twice. */
  release(): Promise<void>;
}

/**
 * A lock is a file that names its owner. When the owner is dead, only the process that holds the lock
 * `<file>.<nonce of the dead owner>` may remove the file. So two processes never both remove it, and none removes the
 * lock of the process that took it over before. The second lock works the same way, so a process that dies during the
 * takeover is itself taken over. The state folder must exist.
 */
export async function lockInPlace(layout: WorkspaceLayout, name: string, options: LockOptions): Promise<Lock> {
  const { clock = createSystemClock(), random = systemRandom, waitMs = 5000, signal } = options;
  const file = join(layout.locks, name);
  const owner = { ...(await identifyThisProcess()), host: hostname(), nonce: createId(random, 16) };
  const taker: Taker = { layout, clock, random, owner };
  const deadline = clock.monotonic() + waitMs;
  for (let pause = 10; ; pause = Math.min(pause * 2, 50)) {
    const attempt = await tryToTake(file, taker);
    if (attempt.kind === 'taken') return { release: () => giveUp(layout, file, owner.nonce) };
    const left = deadline - clock.monotonic();
    if (signal?.aborted) throw new HubError('CANCELLED', `Waiting for the ${name} lock was cancelled.`);
    if (left <= 0) throw stateLocked(name, file, attempt.holder);
    await sleep(clock, Math.min(left, pause), signal);
  }
}

const ownerSchema = z.object({
  pid: z.int().positive(),
  startTime: z.string(),
  host: z.string(),
  nonce: z.string().regex(/^[0-9a-z]{16}$/),
});

type Owner = z.infer<typeof ownerSchema>;

/** A lock whose text was lost, for example in a power cut, has only its file time and inode. */
type Holder = { readonly kind: 'owner'; readonly owner: Owner } | { readonly kind: 'nameless'; readonly since: number };

interface Found {
  readonly holder: Holder;
  readonly nonce: string;
}

interface Taker {
  readonly layout: WorkspaceLayout;
  readonly clock: Clock;
  readonly random: RandomBytes;
  readonly owner: Owner;
}

type Attempt = { readonly kind: 'taken' } | { readonly kind: 'held'; readonly holder: Holder | undefined };

/** A lock without an owner may still be being written; after this time it is not. */
const namelessMs = 10_000;

async function tryToTake(file: string, taker: Taker): Promise<Attempt> {
  try {
    if (await createFileOnce(taker.layout, file, JSON.stringify(taker.owner), taker.random)) return { kind: 'taken' };
    const found = await readLock(taker.layout, file);
    if (found === undefined || !(await isStale(found.holder, taker.clock))) {
      return { kind: 'held', holder: found?.holder };
    }
    await removeStale(file, found.nonce, taker);
    return (await createFileOnce(taker.layout, file, JSON.stringify(taker.owner), taker.random))
      ? { kind: 'taken' }
      : { kind: 'held', holder: (await readLock(taker.layout, file))?.holder };
  } catch (error) {
    throw fileError(error, 'take the lock', file);
  }
}

async function removeStale(file: string, staleNonce: string, taker: Taker): Promise<void> {
  const claim = `${file}.${staleNonce}`;
  if ((await tryToTake(claim, taker)).kind !== 'taken') return;
  try {
    // Read again under the claim: another process may have just finished the same takeover.
    if ((await readLock(taker.layout, file))?.nonce === staleNonce) removeFile(taker.layout, file);
  } finally {
    await giveUp(taker.layout, claim, taker.owner.nonce);
  }
}

async function giveUp(layout: WorkspaceLayout, file: string, nonce: string): Promise<void> {
  try {
    if ((await readLock(layout, file))?.nonce === nonce) removeFile(layout, file);
  } catch (error) {
    throw fileError(error, 'give up the lock', file);
  }
}

async function readLock(layout: WorkspaceLayout, file: string): Promise<Found | undefined> {
  const text = await readSmallFile(layout, file, { maxBytes: 10_000, fix: `Remove ${file}.` });
  if (text === undefined) return undefined;
  const owner = ownerSchema.safeParse(parseOrNothing(text));
  if (owner.success) return { holder: { kind: 'owner', owner: owner.data }, nonce: owner.data.nonce };
  const folder = openFolderOf(layout, file);
  const found = folder?.stat(statePlaceName(file));
  folder?.close();
  if (found === undefined) return undefined;
  const since = Math.floor(found.mtimeMs);
  return { holder: { kind: 'nameless', since }, nonce: `${found.ino}-${since}` };
}

function parseOrNothing(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Locks of another machine are never taken over, because its processes cannot be checked. */
async function isStale(holder: Holder, clock: Clock): Promise<boolean> {
  if (holder.kind === 'nameless') return clock.now() - holder.since > namelessMs;
  return holder.owner.host === hostname() && !(await isRunning(holder.owner));
}

function stateLocked(name: string, file: string, holder: Holder | undefined): HubError {
  const owner = holder?.kind === 'owner' ? holder.owner : undefined;
  const foreign = owner !== undefined && owner.host !== hostname();
  const who = owner === undefined ? 'another process' : `process ${owner.pid}${foreign ? ` on ${owner.host}` : ''}`;
  return new HubError('STATE_LOCKED', `The state of this workspace (lock "${name}") is in use by ${who}.`, {
    hint: foreign
      ? `Stop it; if that machine is gone, remove ${file}.`
      : 'Wait until it is done or stop it, then try again.',
    details: { lock: name, ...(owner === undefined ? {} : { pid: owner.pid }) },
  });
}
