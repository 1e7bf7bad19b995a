import type { ServerSpec, TransportSpec } from './configuration.ts';

/** Programs that download the package they run; some only with certain first arguments. */
const runners: ReadonlyMap<string, readonly string[] | 'always'> = new Map<string, readonly string[] | 'always'>([
  ['npx', 'always'],
  ['bunx', 'always'],
  ['pnpx', 'always'],
  ['uvx', 'always'],
  ['npm', ['exec', 'x']],
  ['pnpm', ['dlx', 'exec']],
  ['yarn', ['dlx']],
  ['bun', ['x']],
  ['uv', ['run', 'tool']],
  ['pipx', ['run']],
  ['docker', ['run']],
  ['podman', ['run']],
]);

/** The program that may have to download the server before running it, such as `npx` or `uvx`. */
export function packageRunner({
  transport,
  fallbacks,
}: Pick<ServerSpec, 'transport' | 'fallbacks'>): string | undefined {
  return [transport, ...fallbacks].map(runnerOf).find((runner) => runner !== undefined);
}

function runnerOf(transport: TransportSpec): string | undefined {
  if (transport.type !== 'stdio') return undefined;
  const program = transport.command.slice(transport.command.lastIndexOf('/') + 1);
  const words = runners.get(program);
  if (words === undefined) return undefined;
  return words === 'always' || words.includes(transport.args[0] ?? '') ? program : undefined;
}
