import { statSync } from 'node:fs';
import { connect, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureGuardedFolder, errnoOf, HubError } from '../../base/index.ts';
import { workspaceLayout } from './layout.ts';
import { acquireLock, type HeldLock, type LockOptions } from './lock.ts';

export interface ClaimOptions extends LockOptions {
  /** For tests: what other systems than Linux do. */
  readonly byFile?: boolean;
}

/**
 * Says that this process serves the workspace, by something that outlives the state folder: a hub whose folder was
 * deleted is still there, and a second one must not start beside it. Keyed by the folder itself, whatever its path.
 * On Linux it is a socket without a file, which goes with its process; elsewhere a lock in the user's temporary folder.
 */
export async function claimWorkspace(workspace: string, options: ClaimOptions = {}): Promise<HeldLock> {
  const { byFile = process.platform !== 'linux', ...lockOptions } = options;
  const { dev, ino } = statSync(workspace);
  const user = process.getuid?.() ?? 0;
  if (byFile) {
    const folder = ensureGuardedFolder(tmpdir(), [`quartermaster-${user}`]);
    folder.close();
    const layout = workspaceLayout(join(tmpdir(), `quartermaster-${user}`));
    return await acquireLock(layout, `hub-${dev}-${ino}`, { ...lockOptions, waitMs: 0 });
  }
  const path = `\0quartermaster/${user}/${dev}-${ino}`;
  const server = await listen(path);
  return { release: () => new Promise((resolve) => server.close(() => resolve())) };
}

/** Whoever connects is told which process it is. */
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
  // Serving is what keeps a hub alive, not this.
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
