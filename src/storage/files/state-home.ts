import { realpathSync } from 'node:fs';
import { isAbsolute, join, relative, resolve, sep } from 'node:path';
import { errnoOf, HubError, resolveExisting } from '../../base/index.ts';

type Env = Readonly<Record<string, string | undefined>>;

/**
 * The folder that holds the state of all workspaces: `QM_STATE_DIR`, or `quartermaster` in the XDG state folder.
 */
export function stateHome(env: Env): string {
  const home = set(env.QM_STATE_DIR);
  if (home !== undefined) return absolute('QM_STATE_DIR', home);
  // The specification says to ignore relative paths.
  const xdg = set(env.XDG_STATE_HOME);
  if (xdg !== undefined && isAbsolute(xdg)) return real(join(xdg, 'quartermaster'));
  const user = set(env.HOME) ?? set(env.USERPROFILE);
  if (user !== undefined && isAbsolute(user)) return real(join(user, '.local', 'state', 'quartermaster'));
  throw new HubError('CONFIG_INVALID', 'There is no folder for the state of the hub: HOME is not set.', {
    hint: 'Set QM_STATE_DIR to a folder that only you can read, outside the workspace.',
  });
}

/** Where the state of this workspace is kept. A folder in the workspace is refused. */
export function stateHomeFor(workspace: string, env: Env): string {
  const home = stateHome(env);
  if (set(env.QM_STATE_DIR) === undefined || env.QM_STATE_IN_WORKSPACE === '1') return home;
  const root = resolveExisting(resolve(workspace));
  const way = relative(root, resolveExisting(home));
  if (way === '..' || way.startsWith(`..${sep}`) || isAbsolute(way)) return home;
  throw new HubError('CONFIG_INVALID', `QM_STATE_DIR is ${home}, which is in the workspace ${root}.`, {
    hint: "Agents' file tools reach the workspace, and the state contains keys: choose a folder outside. If no agent can read files there, set QM_STATE_IN_WORKSPACE=1.",
  });
}

function set(value: string | undefined): string | undefined {
  return value === undefined || value.trim() === '' ? undefined : value;
}

function absolute(variable: string, path: string): string {
  if (isAbsolute(path)) return real(path);
  throw new HubError('CONFIG_INVALID', `${variable} is "${path}", which is not an absolute path.`, {
    hint: `Set ${variable} to an absolute path.`,
  });
}

/** The operator may have put a link here; everything below it is opened without following links. */
function real(path: string): string {
  try {
    return realpathSync(path);
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return path;
    throw error;
  }
}
