import { basename } from 'node:path';

/** Resolves variables and classifies their values. */
export interface Variables {
  /** With `from`, only the secret store answers. */
  lookup(name: string, from?: 'store'): string | undefined;
  /** The value, if a file of the workspace supplies it. */
  fromFile(name: string): string | undefined;
  /** Whether to redact a value. The workspace's own path, for example, need not be redacted. */
  isSecret(value: string): boolean;
  /** Whether to redact a value that is too short for `isSecret`, because its name marks it as secret. */
  isShortSecret(name: string, value: string): boolean;
}

export interface VariablesDeps {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The secret store of the workspace. */
  readonly secrets?: SecretValues | undefined;
}

/** The values that the workspace's secret store has for variables. Rejects with a `HubError` if it cannot be read. */
export interface SecretValues {
  /** For messages, and to notice changes. */
  readonly file: string;
  values(): Promise<ReadonlyMap<string, string>>;
}

export interface VariablesOptions {
  readonly workspace: string;
  /** Names that the format itself defines. All of them mean the workspace. */
  readonly workspaceNames: readonly string[];
  /** The values of the secret store. They override the `.env`. Undefined: it cannot be read, and nothing replaces it. */
  readonly stored: ReadonlyMap<string, string> | undefined;
  /** The values of the workspace's `.env`. They override the environment. */
  readonly dotEnv: ReadonlyMap<string, string>;
}

/** Predefined names win: the workspace of a file must not depend on who starts the hub. */
export function createVariables(deps: Pick<VariablesDeps, 'env'>, options: VariablesOptions): Variables {
  const { stored, dotEnv } = options;
  const predefined = new Map([
    ['WORKSPACE_ROOT', options.workspace],
    // The folder that holds .squad/.
    ['SQUAD_ROOT', options.workspace],
    // Only editors' formats can use a name in this case.
    ['workspaceFolderBasename', basename(options.workspace)],
    ...options.workspaceNames.map((name): [string, string] => [name, options.workspace]),
  ]);
  const visible = new Set([...predefined.values(), ...plainNames.map((name) => fromEnvironment(deps.env, name))]);
  const storedValues = new Set(stored?.values());
  return {
    lookup(name, from) {
      if (from === 'store') return stored?.get(name);
      const fixed = predefined.get(name);
      if (fixed !== undefined || stored === undefined) return fixed;
      return stored.get(name) ?? dotEnv.get(name) ?? fromEnvironment(deps.env, name);
    },
    fromFile: (name) => (predefined.has(name) || stored?.has(name) !== false ? undefined : dotEnv.get(name)),
    isSecret: (value) => value.length >= shortestSecret && !visible.has(value),
    isShortSecret: (name, value) =>
      value.length < shortestSecret &&
      (storedValues.has(value) || secretName.test(name)) &&
      !noSecret.test(value) &&
      !visible.has(value),
  };
}

/** Visible to every program of this user. Logs without the home path would be hard to read. */
const plainNames = ['HOME', 'USER', 'LOGNAME', 'PWD', 'SHELL', 'LANG', 'PATH', 'TMPDIR'];

/** Redacting shorter values everywhere would hide parts of ordinary words. */
export const shortestSecret = 6;

/** `DB_PASSWORD`, `API_KEY`, `PIN`, `X-Auth-Token`, `clientSecret`. */
const secretName =
  /(?:password|passwd|passphrase|passcode|token|secret|credentials?)$|(?:^|[^A-Za-z])(?:pass|pwd|pin|otp|key|auth)$|(?:api|access|private)key$/i;

/** Values of switches, and values that mean no secret. */
const noSecret = /^(?:|true|false|yes|no|on|off|null|none|[01])$/i;

function fromEnvironment(env: VariablesDeps['env'], name: string): string | undefined {
  return Object.hasOwn(env, name) ? env[name] : undefined;
}
