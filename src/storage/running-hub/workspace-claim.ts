import { mkdirSync, statSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { dirname, join } from 'node:path';
import {
  type Clock,
  createSystemClock,
  ensureGuardedFolder,
  errnoOf,
  HubError,
  type RandomBytes,
  systemRandom,
} from '../../base/index.ts';
import { placeIn, type WorkspaceLayout, workspaceLayout } from '../files/layout.ts';
import { acquireLock } from '../files/lock.ts';
import type { Lock } from '../files/lock-in-place.ts';
import { ensureHomeKey } from '../files/state-key.ts';
import { type Asker, answerWithProof, askForProof, type ClaimSubject } from './claim-proof.ts';

export interface ClaimOptions {
  readonly clock?: Clock;
  readonly random?: RandomBytes;
  /** For tests: use the lock file of systems other than Linux. */
  readonly byFile?: boolean;
}

/**
 * Claims the workspace for this process in a way that outlives its state folder: a hub whose folder was deleted still
 * runs, and a second one must not start beside it. Keyed by device and inode, so it does not depend on the path.
 * On Linux it is an abstract socket, which disappears with its process; elsewhere a lock in the state home. Anybody on the
 * machine can take the name of an abstract socket, so its holder must prove that it can read the key of this state home.
 */
export async function claimWorkspace(layout: WorkspaceLayout, options: ClaimOptions = {}): Promise<Lock> {
  const { byFile = process.platform !== 'linux', clock = createSystemClock(), random = systemRandom } = options;
  const { home, workspace } = layout;
  const { dev, ino } = statSync(workspace);
  const subject = { id: `${dev}-${ino}`, workspace };
  const lockFile = (): Promise<Lock> => {
    const claims = workspaceLayout(workspace, join(home, 'claims'));
    return acquireLock(claims, `hub-${subject.id}`, { clock, random, waitMs: 0 });
  };
  ensureHome(layout);
  if (byFile) return await lockFile();
  const asker = { home, key: await ensureHomeKey(layout, random), clock, random };
  const server = await listen(`\0quartermaster/${process.getuid?.() ?? 0}/${subject.id}`, subject, asker);
  // Somebody else's socket says nothing about the hubs of this user.
  if (server === undefined) return await lockFile();
  return { release: () => new Promise((resolve) => server.close(() => resolve())) };
}

function ensureHome(layout: WorkspaceLayout): void {
  mkdirSync(dirname(layout.home), { recursive: true, mode: 0o700 });
  const { root, names } = placeIn(layout, layout.home);
  ensureGuardedFolder(root, names).close();
}

/** Undefined if the name is taken by a process that is no hub of this user. */
async function listen(path: string, subject: ClaimSubject, asker: Asker): Promise<Server | undefined> {
  const server = createServer((socket) => answerWithProof(socket, subject));
  server.maxConnections = mostClients;
  try {
    await new Promise<void>((resolve, reject) => server.once('error', reject).listen(path, resolve));
  } catch (error) {
    if (errnoOf(error) !== 'EADDRINUSE') throw error;
    const pid = await askForProof(path, subject, asker);
    if (pid === undefined) return undefined;
    throw new HubError('STATE_LOCKED', `This workspace is served by process ${pid}.`, {
      hint: 'Wait until it is done or stop it, then try again.',
      details: { lock: 'hub', pid },
    });
  }
  // The claim alone must not keep the process alive.
  return server.unref();
}

/** Other users can connect as well. */
const mostClients = 16;
