import { HubError, readPlainFile } from '../base/index.ts';
import { fileFailure } from './file-failure.ts';

/** As much as the hub reads of a configuration file. */
const maxBytes = 5 * 1024 * 1024;

/** The content of a file of the workspace, under its name in messages. Undefined if there is none. */
export async function readBytes(path: string, name: string): Promise<Buffer | undefined> {
  const found = await readPlainFile(path, maxBytes);
  switch (found.kind) {
    case 'bytes':
      return found.bytes;
    case 'absent':
      return undefined;
    case 'folder':
      throw fileFailure(Object.assign(new Error('a folder'), { code: 'EISDIR' }), 'read', name);
    case 'failed':
      throw fileFailure(Object.assign(new Error('unreadable'), { code: found.errno }), 'read', name);
    case 'not-regular':
      throw notUsable(name, 'is not a regular file', 'Replace it with a regular file.');
    case 'too-large':
      throw notUsable(name, 'is over 5 MB', 'Check that this is the right file.');
  }
}

function notUsable(name: string, what: string, hint: string): HubError {
  return new HubError('CONFIG_INVALID', `${name} ${what}; it is as it was.`, { hint });
}
