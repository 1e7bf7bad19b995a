import { statSync } from 'node:fs';
import { connect, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { errnoOf, HubError } from '../../base/index.ts';
import { workspaceLayout } from '../files/layout.ts';
import { acquireLock, type Lock, type LockOptions } from '../files/lock.ts';

export interface ClaimOptions extends LockOptions {
  /** For tests: use the lock file of systems other than Linux. */
  readonly byFile?: boolean;
}

/**
 * Claims the workspace for this process in a way that outlives the state folder: a hub whose folder was deleted still
 * runs, and a second one must not start beside it. Keyed by device and inode, so it does not depend on the path.
 * On Linux it is an abstract socket, which disappears with its process; elsewhere a lock in
 * the user's temporary folder.
 */
export async function claimWorkspace(workspace: string, options: ClaimOptions = {}): Promise<Lock> {
  const { byFile = process.platform !== 'linux', ...lockOptions } = options;
  const { dev, ino } = statSync(workspace);
  const user = process.getuid?.() ?? 0;
  if (byFile) {
    const layout = workspaceLayout(workspace, join(tmpdir(), `quartermaster-${user}`));
    return await acquireLock(layout, `hub-${dev}-${ino}`, { ...lockOptions, waitMs: 0 });
  }
  const path = `\0quartermaster/${user}/${dev}-${ino}`;
  const server = await listen(path);
  return { release: () => new Promise((resolve) => server.close(() => resolve())) };
}

/** Sends this process's pid to every client that connects. */
async function listen(path: string): Promise<Server> {
  const server = createServer((socket) => {
    socket.on('error', () => socket.destroy());
    socket.end(`${process.pid}\n`);
  });
  try {
    await new Promise<void>((resolve, reject) => server.once('error', reject).listen(path, resolve));
  } catch (error) {
    if (errnoOf(error) !== 'EADDRINUSE') throw error;
    const pid = await askPid(path);
    const who = pid === undefined ? 'another process' : `process ${pid}`;
    throw new HubError('STATE_LOCKED', `This workspace is served by ${who}.`, {
      hint: 'Wait until it is done or stop it, then try again.',
      details: { lock: 'hub', ...(pid === undefined ? {} : { pid }) },
    });
  }
  // The claim alone must not keep the process alive.
  return server.unref();
}

const answerMs = 1000;

function askPid(path: string): Promise<number | undefined> {
  return new Promise((resolve) => {
    let text = '';
    const socket = connect(path);
    socket.setTimeout(answerMs, () => socket.destroy());
    socket.setEncoding('latin1').on('data', (piece: string) => {
      text = (text + piece).slice(0, 20);
    });
    socket.on('error', () => socket.destroy());
    socket.on('close', () => resolve(/^\d{1,10}\n$/.test(text) ? Number(text) : undefined));
  });
}
