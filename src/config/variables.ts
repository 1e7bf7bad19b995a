import { basename, join } from 'node:path';

/** Where the values of variables come from. */
export interface Variables {
  lookup(name: string): string | undefined;
  /** True for a value that must not be seen; the workspace's own path, for one, may be. */
  isSecret(value: string): boolean;
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
  };
}

/** What every program of this user can see; a log without the path of the home folder is hard to read. */
const plainNames = ['HOME', 'USER', 'LOGNAME', 'PWD', 'SHELL', 'LANG', 'PATH', 'TMPDIR'];

/** Redacting anything shorter would blank out ordinary words. */
const shortestSecret = 6;

function fromEnvironment(env: VariablesDeps['env'], name: string): string | undefined {
  return Object.hasOwn(env, name) ? env[name] : undefined;
}
