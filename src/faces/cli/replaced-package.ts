import type { ServerSpec } from '../../domain/index.ts';

/** What to say of a server whose package a built-in one replaces, for each such package once. */
export function replacementAdvice({ name, transport, fallbacks }: ServerSpec): string[] {
  const words = [transport, ...fallbacks].flatMap((each) =>
    each.type === 'stdio' ? [each.command, ...each.args].map(withoutVersion) : [],
  );
  return [...replaced].flatMap(([npm, advise]) => (words.includes(npm) ? [advise(name)] : []));
}

const replaced: ReadonlyMap<string, (name: string) => string> = new Map([
  ['@modelcontextprotocol/server-git', (name) => neverThere('git', name, 'args: [--repository, .]')],
  ['@modelcontextprotocol/server-fetch', (name) => neverThere('fetch', name)],
  [
    '@modelcontextprotocol/server-postgres',
    (name) =>
      `The package @modelcontextprotocol/server-postgres is no longer maintained, and a statement that begins with COMMIT gets out of its read-only transaction. Give server ${name} "builtin: pg-readonly" and the URL as PG_RO_URL in its env, in place of command and args.`,
  ],
]);

function neverThere(builtin: string, name: string, args?: string): string {
  const how = args === undefined ? '' : ` with ${args}`;
  return `npm has no package @modelcontextprotocol/server-${builtin} and never had one. Give server ${name} "builtin: ${builtin}"${how}, in place of command and args.`;
}

/** The `@` that begins a scope is no version. */
function withoutVersion(word: string): string {
  return word.replace(/(?<=.)@[^/@]*$/, '');
}
