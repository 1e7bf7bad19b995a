import type { BuiltinName, ServerSpec } from '../../../domain/index.ts';

/** Advice for a server whose package a built-in replaces, once per package. */
export function replacementAdvice(spec: ServerSpec): string[] {
  const { name, source, transport, fallbacks } = spec;
  const words = [transport, ...fallbacks].flatMap((each) =>
    each.type === 'stdio' ? [each.command, ...each.args].map(withoutVersion) : [],
  );
  return replaced.flatMap((each) => {
    if (!words.includes(each.npm)) return [];
    const how = isOurs(source.file) ? entry(each, source.file) : command(each);
    const steps = [`Give server ${name} ${how}`, ...addressStep(spec, each), ...toolStep(spec, each)];
    const last = steps.pop();
    return [`${each.why} ${steps.length === 0 ? last : `${steps.join(', ')}, and ${last}`}.`];
  });
}

interface Replaced {
  readonly builtin: BuiltinName;
  readonly npm: string;
  readonly why: string;
  readonly args: readonly string[];
  /** The variable in which the built-in expects the address of a database. */
  readonly address?: string;
  /** A tool that the built-in has under another name. */
  readonly renamed?: { readonly from: string; readonly to: string };
}

const replaced: readonly Replaced[] = [
  neverThere('git', ['--repository', '.']),
  neverThere('fetch', []),
  {
    builtin: 'pg-readonly',
    npm: '@modelcontextprotocol/server-postgres',
    why: 'The package @modelcontextprotocol/server-postgres is no longer maintained, and a statement that begins with COMMIT gets out of its read-only transaction.',
    args: [],
    address: 'PG_RO_URL',
    renamed: { from: 'query', to: 'execute_query' },
  },
];

function neverThere(builtin: BuiltinName, args: readonly string[]): Replaced {
  const npm = `@modelcontextprotocol/server-${builtin}`;
  return { builtin, npm, why: `npm has no package ${npm} and never had one.`, args };
}

/** Files that no other program reads as its own list of servers. */
function isOurs(file: string): boolean {
  return (
    file === 'quartermaster.yaml' || file === '.squad/mcp-config.json' || /^(\.mcp|ops\/adk)\/servers\//.test(file)
  );
}

function entry({ builtin, args }: Replaced, file: string): string {
  const isJson = file.endsWith('.json');
  const key = isJson ? `"builtin": "${builtin}"` : `"builtin: ${builtin}"`;
  const list = isJson ? JSON.stringify(args) : `[${args.join(', ')}]`;
  return `${key}${args.length === 0 ? '' : ` with args: ${list}`}, in place of type, command and args`;
}

/** For other files, a command: the client that owns the file can start it as well. */
function command({ builtin, args }: Replaced): string {
  return `the command \`${['qm', 'builtin', builtin, ...args].join(' ')}\` in place of it`;
}

/** The address may already be in the environment of the server, under a name that the package did not read either. */
function addressStep({ transport }: ServerSpec, { address }: Replaced): string[] {
  if (address === undefined) return [];
  const env = transport.type === 'stdio' ? Object.entries(transport.env) : [];
  const there = env.find(([, value]) => /^postgres(?:ql)?:\/\//.test(value))?.[0];
  if (there === address) return [];
  return [there === undefined ? `the URL as ${address} in its env` : `rename ${there} in its env to ${address}`];
}

function toolStep({ tools }: ServerSpec, { renamed }: Replaced): string[] {
  if (renamed === undefined || tools.include?.includes(renamed.from) !== true) return [];
  return [`write ${renamed.to} in place of ${renamed.from} in its tools`];
}

/** The `@` at the start of a scope does not begin a version. */
function withoutVersion(word: string): string {
  return word.replace(/(?<=.)@[^/@]*$/, '');
}
