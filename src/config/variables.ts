import { basename, join } from 'node:path';

/** Where the values of variables come from. */
export interface Variables {
  lookup(name: string): string | undefined;
  /** True for a value that must not be seen; the workspace's own path, for one, may be. */
  isSecret(value: string): boolean;
  /** True for a value that is too short for that, under a name that says that it is secret all the same. */
  isShortSecret(name: string, value: string): boolean;
}

export interface VariablesDeps {
  readonly env: Readonly<Record<string, string | undefined>>;
}

export interface VariablesOptions {
  readonly workspace: string;
  /** Names that the source format itself defines, all of them for the workspace. */
  readonly workspaceNames: readonly string[];
  /** What the workspace's `.env` says; stronger than the environment. */
  readonly dotEnv: ReadonlyMap<string, string>;
}

/** Predefined names win: what a file says of its workspace must not depend on who starts the hub. */
export function createVariables(deps: VariablesDeps, options: VariablesOptions): Variables {
  const predefined = new Map([
    ['WORKSPACE_ROOT', options.workspace],
    ['SQUAD_ROOT', join(options.workspace, '.squad')],
    // Only editors' formats can ask for a name in this case.
    ['workspaceFolderBasename', basename(options.workspace)],
    ...options.workspaceNames.map((name): [string, string] => [name, options.workspace]),
  ]);
  const visible = new Set([...predefined.values(), ...plainNames.map((name) => fromEnvironment(deps.env, name))]);
  return {
    lookup: (name) => predefined.get(name) ?? options.dotEnv.get(name) ?? fromEnvironment(deps.env, name),
    isSecret: (value) => value.length >= shortestSecret && !visible.has(value),
    isShortSecret: (name, value) =>
      value.length < shortestSecret && secretName.test(name) && !noSecret.test(value) && !visible.has(value),
  };
}

/** What every program of this user can see; a log without the path of the home folder is hard to read. */
const plainNames = ['HOME', 'USER', 'LOGNAME', 'PWD', 'SHELL', 'LANG', 'PATH', 'TMPDIR'];

/** Redacting anything shorter wherever it stands would blank out parts of ordinary words. */
export const shortestSecret = 6;

/** `DB_PASSWORD`, `API_KEY`, `PIN`, `X-Auth-Token`, `clientSecret`. */
const secretName =
  /(?:password|passwd|passphrase|passcode|token|secret|credentials?)$|(?:^|[^A-Za-z])(?:pass|pwd|pin|otp|key|auth)$|(?:api|access|private)key$/i;

/** What switches something, or says that there is no secret. */
const noSecret = /^(?:|true|false|yes|no|on|off|null|none|[01])$/i;

function fromEnvironment(env: VariablesDeps['env'], name: string): string | undefined {
  return Object.hasOwn(env, name) ? env[name] : undefined;
}
