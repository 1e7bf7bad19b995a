import { createHash } from 'node:crypto';
import { chmodSync, lstatSync, type Stats } from 'node:fs';
import { connect, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';
import { ensureGuardedFolder, type GuardedFolder, type GuardedPlace, HubError } from '../../base/index.ts';
import { placeIn, type WorkspaceLayout } from '../files/layout.ts';

type Env = Readonly<Record<string, string | undefined>>;

/** Node cuts socket paths over 107 bytes silently, so that two long paths could lead to one socket. */
const maxPathBytes = 100;

/**
 * Makes the server listen on the control socket of the workspace and returns the path. The caller holds the workspace's
 * lock, so a socket that is already there belongs to a hub that died.
 */
export async function listenOnControlSocket(server: Server, layout: WorkspaceLayout, env: Env): Promise<string> {
  const name = `${createHash('sha256').update(layout.folder).digest('hex').slice(0, 24)}.sock`;
  let failure: unknown = new HubError('CONFIG_INVALID', 'There is no folder with a path short enough for a socket.', {
    hint: 'Set XDG_RUNTIME_DIR to a short path of a folder that only you can read.',
  });
  for (const place of runtimePlaces(layout, env)) {
    const path = join(place.root, ...place.names, name);
    if (Buffer.byteLength(path) > maxPathBytes) continue;
    try {
      await listenIn(server, place, name);
      return path;
    } catch (error) {
      // A folder that somebody else prepared is no reason to look further: it would hide an attack.
      if (error instanceof HubError) throw error;
      failure = error;
    }
  }
  throw failure;
}

/** Throws unless only this user can have put the socket there. */
export function checkControlSocket(path: string): void {
  const folder = lstatSync(dirname(path));
  const isPrivate = folder.isDirectory() && isOwn(folder) && (folder.mode & 0o077) === 0;
  if (!isPrivate) throw foreign(dirname(path), 'is not a private folder of this user');
  const socket = lstatSync(path);
  if (!socket.isSocket() || !isOwn(socket)) throw foreign(path, 'is not a socket of this user');
}

/** The runtime folder of the login session, which few containers have; then the state folder; then the temporary one. */
function runtimePlaces(layout: WorkspaceLayout, { XDG_RUNTIME_DIR: runtime }: Env): readonly GuardedPlace[] {
  const user = process.getuid?.() ?? 0;
  return [
    ...(runtime !== undefined && isOwnFolder(runtime) ? [{ root: runtime, names: ['quartermaster'] }] : []),
    placeIn(layout, join(layout.home, 'run')),
    { root: tmpdir(), names: [`quartermaster-${user}`, 'run'] },
  ];
}

async function listenIn(server: Server, { root, names }: GuardedPlace, name: string): Promise<void> {
  const folder = ensureGuardedFolder(root, names);
  try {
    if ((folder.fstat().mode & 0o077) !== 0) folder.chmod(0o700);
    await removeStale(folder, name);
    const path = join(folder.path, name);
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject).listen(path, () => {
        server.off('error', reject);
        resolve();
      });
    });
    chmodSync(path, 0o600);
    if (!folder.isInPlace()) throw foreign(folder.path, 'was replaced while it was in use');
  } finally {
    folder.close();
  }
}

async function removeStale(folder: GuardedFolder, name: string): Promise<void> {
  const found = folder.stat(name);
  if (found === undefined) return;
  const path = join(folder.path, name);
  if (!found.isSocket() || !isOwn(found)) throw foreign(path, 'is not a socket of this user');
  if (await isAnswered(path)) {
    throw new HubError('STATE_LOCKED', `Another process listens on ${path}.`, { hint: 'Stop it, then try again.' });
  }
  folder.removeIfThere(name);
}

function isAnswered(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path, () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}

function isOwnFolder(path: string): boolean {
  if (!isAbsolute(path)) return false;
  const found = lstatSync(path, { throwIfNoEntry: false });
  return found?.isDirectory() === true && isOwn(found);
}

function isOwn({ uid }: Stats): boolean {
  return uid === (process.getuid?.() ?? uid);
}

function foreign(path: string, what: string): HubError {
  return new HubError('CONFIG_INVALID', `${path} ${what}.`, {
    hint: 'Move it away, then restart the hub; it is created again.',
    details: { path, unsafe: true },
  });
}
