import { isAbsolute, relative, resolve } from 'node:path';
import { HubError } from '../../../base/index.ts';
import { makeFolder, newServerFiles } from '../../../workspace-files/index.ts';
import type { CliContext } from '../context.ts';
import { type AddedServer, addServer } from './add-server.ts';

export interface ScaffoldedServer {
  readonly added: AddedServer;
  /** Both are relative to the workspace. */
  readonly folder: string;
  readonly files: readonly string[];
}

/** Creates a new server's folder and its entry in quartermaster.yaml: both or neither. */
export async function scaffoldServer(
  cli: CliContext,
  workspace: string,
  name: string,
  dir: string | undefined,
): Promise<ScaffoldedServer> {
  checkName(name);
  const folder = folderInside(workspace, dir ?? `servers/${name}`);
  const files = newServerFiles(name, folder);
  // Escaped, because "${" starts a variable in the file.
  const program = `${folder}/server.mjs`.replaceAll('${', () => '$${');
  const order = { name, body: { command: 'node', args: [program] }, agent: undefined, preset: undefined };
  const added = await addServer(cli, workspace, order, () => makeFolder(cli, workspace, folder, files));
  return { added, folder, files: files.map(({ file }) => `${folder}/${file}`) };
}

/** The name is also that of a folder and an npm package. */
function checkName(name: string): void {
  if (/^[a-z0-9][a-z0-9._-]{0,63}$/.test(name) && !taken.includes(name)) return;
  throw new HubError('USAGE', `"${name.slice(0, 80)}" cannot be the name of a new server.`, {
    hint: 'Use 1 to 64 small letters, digits, dots, dashes and underscores, and begin with a letter or digit; it is the name of an npm package too.',
  });
}

/** Names that npm allows for no package. */
const taken: readonly string[] = ['node_modules', 'favicon.ico'];

function folderInside(workspace: string, dir: string): string {
  const folder = relative(workspace, resolve(workspace, dir));
  if (folder !== '' && folder !== '..' && !folder.startsWith('../') && !isAbsolute(folder)) return folder;
  throw new HubError('USAGE', `--dir ${dir} is not a folder inside the workspace.`, {
    hint: 'Name a new folder, relative to the workspace: --dir tools/NAME.',
  });
}
