import { realpathSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import { stateHome } from './state-home.ts';

/** Where people and their programs keep keys, in the home folder. */
const keyPlaces: readonly string[] = [
  '.aws',
  '.azure',
  '.cargo/credentials.toml',
  '.config/gcloud',
  '.config/gh',
  '.config/git/credentials',
  '.docker',
  '.git-credentials',
  '.gnupg',
  '.kube',
  '.local/share/keyrings',
  '.netrc',
  '.npmrc',
  '.password-store',
  '.pgpass',
  '.pypirc',
  '.ssh',
  'Library/Keychains',
  // The logins of agents.
  '.claude.json',
  '.claude/.credentials.json',
  '.codex/auth.json',
  '.config/github-copilot',
  '.copilot',
  '.gemini',
  '.local/share/opencode/auth.json',
];

type Env = Readonly<Record<string, string | undefined>>;

/** Folders that no server may be given without the operator's word: the hub's state, the user's settings, and keys. */
export function protectedPlaces(env: Env, home: string = stateHome(env)): readonly string[] {
  const user = env.HOME ?? env.USERPROFILE;
  const isKnown = user !== undefined && isAbsolute(user);
  const keys = isKnown ? keyPlaces.map((place) => join(user, place)) : [];
  return [home, ...settingsFolders(env), ...keys].map(real);
}

/** Whoever can write the user's settings can list folders that are trusted without a question. */
function settingsFolders({ XDG_CONFIG_HOME: xdg, HOME: home }: Env): string[] {
  const parents = [xdg, home === undefined ? undefined : join(home, '.config')];
  return parents.flatMap((parent) =>
    parent !== undefined && isAbsolute(parent) ? [join(parent, 'quartermaster')] : [],
  );
}

function real(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    // It may be made later.
    return path;
  }
}
