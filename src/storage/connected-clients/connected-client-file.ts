import { closeSync, fsyncSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { type Clock, createId, type GuardedFolder, type RandomBytes } from '../../base/index.ts';
import type { ClientConnection, ConnectionStore } from '../../clients/index.ts';
import type { TextSeal } from '../../vault/index.ts';
import { fileError } from '../files/file-error.ts';
import { damaged, readJsonDocument } from '../files/json-document.ts';
import type { WorkspaceLayout } from '../files/layout.ts';
import { withLock } from '../files/lock.ts';
import { openStateFolder } from '../files/state-folder.ts';
import { statePlaceName } from '../files/state-place.ts';
import { replaceFile } from '../files/write-file.ts';
import { connectionSchema, connectionsDocument } from './connected-client-document.ts';

export interface ConnectionFileDeps {
  readonly clock: Clock;
  readonly random: RandomBytes;
  readonly seal: TextSeal;
}

/** More copies of clients' files are not kept. */
const mostBackups = 50;
const mostBytes = 256 * 1024 * 1024;

/** The connections of a file workspace, sealed in one file, and copies of clients' files before they were changed. */
export function createFileConnectionStore(layout: WorkspaceLayout, deps: ConnectionFileDeps): ConnectionStore {
  const { clock, random, seal } = deps;
  const { connections: path } = layout;
  const load = async (): Promise<Readonly<Record<string, string>>> =>
    (await readJsonDocument(layout, path, connectionsDocument))?.connections ?? {};

  async function change(edit: (before: Readonly<Record<string, string>>) => Record<string, string>): Promise<void> {
    const write = async (): Promise<void> => {
      const document = { version: 1, connections: edit(await load()) };
      await replaceFile(layout, path, `${JSON.stringify(document, undefined, 2)}\n`, random);
    };
    try {
      await withLock(layout, 'connections', write, deps);
    } catch (error) {
      throw fileError(error, 'write', path);
    }
  }

  return {
    async list() {
      const sealed = Object.entries(await load());
      return sealed.map(([client, text]) => opened(layout, seal.open(client, text)));
    },
    save: (connection) =>
      change((before) => ({ ...before, [connection.client]: seal.seal(connection.client, packed(connection)) })),
    remove: (client) => change(({ [client]: _gone, ...others }) => others),
    async backUp(file, bytes) {
      try {
        return writeBackup(layout, `${stampOf(clock.now())}-${createId(random, 6)}-${nameOf(file)}`, bytes);
      } catch (error) {
        throw fileError(error, 'write', layout.backups);
      }
    },
  };
}

/** Files of clients may be large, and a connection holds most of their text twice. */
function packed(connection: ClientConnection): string {
  return gzipSync(JSON.stringify(connection)).toString('base64');
}

function opened({ connections, backups }: WorkspaceLayout, text: string | undefined): ClientConnection {
  const packedText =
    text === undefined ? undefined : gunzipSync(Buffer.from(text, 'base64'), { maxOutputLength: mostBytes });
  if (packedText !== undefined) return connectionSchema.parse(JSON.parse(packedText.toString('utf8')));
  const fix = `Delete it and remove the entries for the hub yourself. Copies of the clients' files are in ${backups}.`;
  throw damaged(connections, 'it was sealed with a key that is gone', fix);
}

/** Sorts by time. */
function stampOf(now: number): string {
  return new Date(now)
    .toISOString()
    .replace(/[^0-9]/g, '')
    .slice(0, 17);
}

function nameOf(file: string): string {
  return basename(file)
    .replace(/[^A-Za-z0-9._-]/g, '_')
    .slice(-60)
    .replace(/^\.+/, '');
}

function writeBackup(layout: WorkspaceLayout, name: string, bytes: Uint8Array): string {
  const folder = openStateFolder(layout);
  if (folder === undefined) throw Object.assign(new Error(`ENOENT: ${layout.folder}`), { code: 'ENOENT' });
  try {
    const backups = folder.ensureChild(statePlaceName(layout.backups));
    try {
      writeNew(backups, name, bytes);
      const names = backups.list();
      for (const old of names.slice(0, Math.max(0, names.length - mostBackups))) backups.removeIfThere(old);
    } finally {
      backups.close();
    }
  } finally {
    folder.close();
  }
  return join(layout.backups, name);
}

function writeNew(folder: GuardedFolder, name: string, bytes: Uint8Array): void {
  const fd = folder.open(name, 'create');
  try {
    writeFileSync(fd, bytes);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}
