import type { ServerSpec, StdioTransportSpec, TransportSpec } from '../../domain/index.ts';
import { type KnownServer, knownServers } from './known-servers.ts';

/**
 * Recognises a known server by its package, program, image or host. Its configured name does not count. A transport
 * that is not fully understood is not recognised, because recognition can expose a tool that would otherwise be hidden.
 */
export function recogniseServer(spec: Pick<ServerSpec, 'transport' | 'fallbacks'>): KnownServer | undefined {
  const first = behind(spec.transport);
  // A different program behind a fallback could have different tools under the same names.
  return spec.fallbacks.every((fallback) => behind(fallback) === first) ? first : undefined;
}

/** What an agent can use instead of a well-known server. Each transport may lead to another one that does the same. */
export function knownAlternative(spec: Pick<ServerSpec, 'transport' | 'fallbacks'>): string | undefined {
  const [text, ...others] = [spec.transport, ...spec.fallbacks].map((each) => behind(each)?.instead?.text);
  return others.every((other) => other === text) ? text : undefined;
}

function behind(transport: TransportSpec): KnownServer | undefined {
  switch (transport.type) {
    case 'stdio':
      return behindCommand(transport);
    case 'builtin':
      return builtinCalled(transport.builtin);
    default:
      return behindUrl(transport.url);
  }
}

function behindUrl(text: string): KnownServer | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  // Without TLS, anyone on the path can answer for the host.
  if (url?.protocol !== 'https:') return undefined;
  return knownServers.find(({ hosts }) => hosts?.includes(url.hostname));
}

function behindCommand({ command, args }: StdioTransportSpec): KnownServer | undefined {
  const program = lastSegment(command);
  const runner = runners.get(program);
  if (runner !== undefined) return behindRunner(runner, args);
  if (program === 'docker' || program === 'podman') return behindImage(args);
  if (program === 'node' || program === 'bun') return behindScript(args);
  if (/^python(3(\.\d+)?)?$/.test(program)) return behindModule(args);
  if (isOwnProgram(program)) return behindBuiltin(args);
  return behindProgram(command);
}

interface Runner {
  /** The same name means different packages in different registries. */
  readonly registry: 'npm' | 'pypi';
  /** Arguments between the program and its options. */
  readonly verbs: readonly (readonly string[])[];
}

/** Options that take no value and do not change which program runs. */
const harmlessFlags: ReadonlySet<string> = new Set([
  '-y',
  '--yes',
  '-q',
  '--quiet',
  '--silent',
  '--prefer-offline',
  '--',
]);

/** A version, range or tag, but not a different source, such as `name@npm:other` or `name@file:…`. */
const versions: Readonly<Record<Runner['registry'], RegExp>> = {
  npm: /@[\w.^~<>=*+-]*$/,
  pypi: /(\[[\w,-]*\])?(@|==|~=|>=|<=)[\w.*+!-]*$/,
};

const runners: ReadonlyMap<string, Runner> = new Map<string, Runner>([
  ['npx', { registry: 'npm', verbs: [[]] }],
  ['bunx', { registry: 'npm', verbs: [[]] }],
  ['pnpx', { registry: 'npm', verbs: [[]] }],
  ['npm', { registry: 'npm', verbs: [['exec'], ['x']] }],
  ['pnpm', { registry: 'npm', verbs: [['dlx']] }],
  ['yarn', { registry: 'npm', verbs: [['dlx']] }],
  ['uvx', { registry: 'pypi', verbs: [[]] }],
  ['uv', { registry: 'pypi', verbs: [['tool', 'run']] }],
  ['pipx', { registry: 'pypi', verbs: [['run']] }],
]);

function behindRunner({ registry, verbs }: Runner, args: readonly string[]): KnownServer | undefined {
  const verb = verbs.find((words) => words.every((word, index) => args[index] === word));
  if (verb === undefined) return undefined;
  const rest = operands(args.slice(verb.length), harmlessFlags);
  const name = withoutVersion(rest[0] ?? '', versions[registry]);
  // It only forwards messages to the URL that follows.
  if (registry === 'npm' && name === 'mcp-remote') return behindUrl(rest[1] ?? '');
  return byPackage(registry, name);
}

/** The `@` at the start is a scope, not a version. */
function withoutVersion(text: string, version: RegExp): string {
  const at = text.slice(1).search(version);
  return at < 0 ? text : text.slice(0, at + 1);
}

/** The arguments after the options. Empty if an option is not known to be harmless. */
function operands(
  args: readonly string[],
  flags: ReadonlySet<string>,
  valued?: ReadonlySet<string>,
): readonly string[] {
  for (let at = 0; at < args.length; at++) {
    const arg = args[at] ?? '';
    if (!arg.startsWith('-')) return args.slice(at);
    const [option = ''] = arg.split('=', 1);
    if (valued?.has(option)) at += arg.includes('=') ? 0 : 1;
    else if (!flags.has(arg)) return [];
  }
  return [];
}

const imageFlags: ReadonlySet<string> = new Set(['-i', '--interactive', '--rm', '--init', '-t', '-it', '-ti']);
const imageOptions: ReadonlySet<string> = new Set(['-e', '--env', '--env-file', '--name', '--network', '--pull']);

function behindImage([verb, ...args]: readonly string[]): KnownServer | undefined {
  if (verb !== 'run') return undefined;
  const image = (operands(args, imageFlags, imageOptions)[0] ?? '').replace(/(:[\w.-]+)?(@sha256:[0-9a-f]+)?$/, '');
  return knownServers.find(({ images }) => images?.includes(image));
}

/** `node …/node_modules/PACKAGE/…`, or the hub's own program. */
function behindScript([script = '', ...args]: readonly string[]): KnownServer | undefined {
  if (isOwnProgram(lastSegment(script))) return behindBuiltin(args);
  return byPackage('npm', installedPackage(script));
}

function installedPackage(path: string): string {
  const pieces = `/${path}`.split('/node_modules/');
  if (pieces.length < 2) return '';
  const [first = '', second = ''] = pieces.at(-1)?.split('/') ?? [];
  return first.startsWith('@') ? `${first}/${second}` : first;
}

function behindModule([option, module = '']: readonly string[]): KnownServer | undefined {
  return option === '-m' ? byPackage('pypi', module.replaceAll('_', '-')) : undefined;
}

function isOwnProgram(program: string): boolean {
  return program === 'qm' || program === 'quartermaster';
}

function behindBuiltin([verb, name]: readonly string[]): KnownServer | undefined {
  return verb === 'builtin' ? builtinCalled(name) : undefined;
}

function builtinCalled(name: string | undefined): KnownServer | undefined {
  return knownServers.find(({ builtin }) => builtin !== undefined && builtin === name);
}

function behindProgram(command: string): KnownServer | undefined {
  const program = lastSegment(command);
  return (
    knownServers.find(({ programs }) => programs?.includes(program)) ?? byPackage('npm', installedPackage(command))
  );
}

function byPackage(registry: Runner['registry'], name: string): KnownServer | undefined {
  return knownServers.find((server) => server[registry]?.includes(name));
}

function lastSegment(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}
