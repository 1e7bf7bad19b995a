import type { BuiltinName, ServerSpec } from '../../../domain/index.ts';

/** Advice for a server whose package a built-in replaces, once per package. */
export function replacementAdvice({ name, source, transport, fallbacks }: ServerSpec): string[] {
  const words = [transport, ...fallbacks].flatMap((each) =>
    each.type === 'stdio' ? [each.command, ...each.args].map(withoutVersion) : [],
  );
  return replaced.flatMap(({ builtin, npm, why, args, env }) => {
    if (!words.includes(npm)) return [];
    const how = isOurs(source.file) ? entry(builtin, args) : command(builtin, args);
    return [`${why} Give server ${name} ${how}${env}.`];
  });
}

interface Replaced {
  readonly builtin: BuiltinName;
  readonly npm: string;
  readonly why: string;
  readonly args: readonly string[];
  readonly env: string;
}

const replaced: readonly Replaced[] = [
  neverThere('git', ['--repository', '.']),
  neverThere('fetch', []),
  {
    builtin: 'pg-readonly',
    npm: '@modelcontextprotocol/server-postgres',
    why: 'The package @modelcontextprotocol/server-postgres is no longer maintained, and a statement that begins with COMMIT gets out of its read-only transaction.',
    args: [],
    env: ', and the URL as PG_RO_URL in its env',
  },
];

function neverThere(builtin: BuiltinName, args: readonly string[]): Replaced {
  const npm = `@modelcontextprotocol/server-${builtin}`;
  return { builtin, npm, why: `npm has no package ${npm} and never had one.`, args, env: '' };
}

/** Files that no other program reads as its own list of servers. */
function isOurs(file: string): boolean {
  return file === 'quartermaster.yaml' || /^(\.mcp|ops\/adk)\/servers\//.test(file);
}

function entry(builtin: BuiltinName, args: readonly string[]): string {
  const how = args.length === 0 ? '' : ` with args: [${args.join(', ')}]`;
  return `"builtin: ${builtin}"${how}, in place of command and args`;
}

/** For other files, a command: the client that owns the file can start it as well. */
function command(builtin: BuiltinName, args: readonly string[]): string {
  return `the command \`${['qm', 'builtin', builtin, ...args].join(' ')}\` in place of it`;
}

/** The `@` at the start of a scope does not begin a version. */
function withoutVersion(word: string): string {
  return word.replace(/(?<=.)@[^/@]*$/, '');
}
