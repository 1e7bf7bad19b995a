import { existsSync, realpathSync } from 'node:fs';
import { basename, isAbsolute, join, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ServerSpec } from '../../domain/index.ts';
import { type Finding, quote } from '../findings.ts';

export interface CoverOptions {
  readonly workspace: string;
  /** The first is the hub's own state. */
  readonly places: readonly string[];
  /** Folders that the operator lets servers have, whatever lies in them. */
  readonly allowPaths: readonly string[];
  readonly home: string | undefined;
}

/** Places with keys that a server was given. */
export interface Covered {
  /** One that `allowPaths` does not list. */
  readonly refused: Finding | undefined;
  /** Those that it lists. */
  readonly reaches: readonly string[];
}

/**
 * A server whose arguments, variables or working folder contain the hub's state could hand its agents the keys of the hub. The same
 * goes for the user's own keys. Links are followed, because the server would follow them.
 */
export function findCovered(spec: ServerSpec, options: CoverOptions): Covered {
  const reaches = new Set<string>();
  const allowed = options.allowPaths.map((path) => real(untilded(path, options)));
  for (const transport of [spec.transport, ...spec.fallbacks]) {
    if (transport.type !== 'stdio' && transport.type !== 'builtin') continue;
    // A program that starts in the workspace was not given it.
    const folders = transport.cwd === options.workspace ? [] : [transport.cwd];
    const values = Object.entries(transport.env).flatMap(([name, value]) => (givenAnyway.has(name) ? [] : [value]));
    const how = { home: options.home, isShell: transport.type === 'stdio' && shellNames.test(transport.command) };
    const words = [...transport.args, ...values].flatMap((text) => coveredCandidates(text, how));
    for (const [index, said] of [...folders, ...words].entries()) {
      const named = resolve(transport.cwd, said);
      const path = index < maxFollowed ? real(named) : named;
      const place = options.places.find(
        (each, index) => contains(path, each) || (isOurs(each, index) && contains(each, path)),
      );
      if (place === undefined) continue;
      if (!allowed.some((each) => contains(each, path))) {
        return { refused: covered(spec, said, place, place === options.places[0]), reaches: [] };
      }
      reaches.add(place);
    }
  }
  return { refused: undefined, reaches: [...reaches].sort() };
}

/** The hub's own folders: the state, and the settings of the user. A single file in them is too much. */
function isOurs(place: string, index: number): boolean {
  return index === 0 || basename(place) === 'quartermaster';
}

/** Paths may stand after a flag, in a list or as a URL. */
export function pathCandidates(argument: string): readonly string[] {
  const value = argument.slice(0, maxCharacters);
  const parts = [value, ...value.split(/[=,:]/)];
  return [...new Set(parts)].flatMap((part) => {
    if (part === '') return [];
    if (!part.startsWith('file://')) return [part];
    return URL.canParse(part) ? [pathOf(part)] : [];
  });
}

const maxCharacters = 4096;

/** Bounds the work. Beyond, paths are compared as they are written. */
const maxFollowed = 4096;

/**
 * Everything in a text that a program, or a shell that it starts, could take for a path: `["/a","/b"]`, `/a;/b`, `~/x`,
 * `sh -c "cat $HOME/x"`.
 */
function coveredCandidates(text: string, { home, isShell }: { home: string | undefined; isShell: boolean }): string[] {
  const expanded = home === undefined ? text : text.replace(homeVariable, () => home);
  // In code, a lone slash or dot is seldom a path. In a list or in a shell it is one.
  const isList = isShell || !/\s/.test(text);
  const words = [text, expanded]
    .flatMap((each) => each.split(separators))
    .flatMap((word) => [word, ...word.split(':')]);
  const paths = words.filter((word) => /[/~.]/.test(word) && (isList || !/^[/.]*$/.test(word)));
  const all = new Set([...pathCandidates(text), ...paths].map((word) => asPath(word, home)));
  return [...all].filter((word) => word !== '' && word.length <= maxCharacters);
}

const separators = /[\s"'`()[\]{}<>;,|&=]+/;
const homeVariable = /\$(?:HOME(?!\w)|\{HOME\})/g;
const shellNames = /(?:^|\/)(?:ba|da|fi|k|z)?sh$/;

function asPath(word: string, home: string | undefined): string {
  if (word.startsWith('file:')) return pathOf(word);
  const [, name, rest = ''] = /^~([^/]*)(\/.*)?$/s.exec(word) ?? [];
  const isHome = home !== undefined && name !== undefined && (name === '' || name === basename(home));
  return isHome ? join(home, rest) : word;
}

/** A program gets these in any case. */
const givenAnyway: ReadonlySet<string> = new Set([
  'HOME',
  'PATH',
  'SHELL',
  'TMPDIR',
  'XDG_CACHE_HOME',
  'XDG_CONFIG_HOME',
  'XDG_DATA_HOME',
]);

function pathOf(url: string): string {
  try {
    return fileURLToPath(url);
  } catch {
    return url;
  }
}

function untilded(path: string, { home, workspace }: CoverOptions): string {
  if (home !== undefined && (path === '~' || path.startsWith('~/'))) return join(home, path.slice(1));
  return isAbsolute(path) ? path : join(workspace, path);
}

function real(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

function contains(folder: string, path: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : `${folder}${sep}`);
}

function covered({ name, source }: ServerSpec, said: string, place: string, isState: boolean): Finding {
  const what = isState ? "the hub's own keys and audit log" : 'your keys or settings';
  return {
    severity: 'error',
    line: source.line,
    server: name,
    message: `Server ${quote(name)} is given ${quote(said.slice(0, 200))}, which reaches ${place} with ${what}. Its agents could read or change them.`,
    fix: 'Give it a narrower folder. If you mean it, list the folder under allowPaths in quartermaster.yaml.',
  };
}

/** Not a reason to refuse: agents may need the folder, and the operator should know what else is in it. */
export function findReadable(spec: ServerSpec, { workspace }: Pick<CoverOptions, 'workspace'>): Finding | undefined {
  const { transport } = spec;
  if (transport.type !== 'stdio' || !fileServer.test([transport.command, ...transport.args].join(' ')))
    return undefined;
  const paths = transport.args.flatMap(pathCandidates).map((said) => real(resolve(transport.cwd, said)));
  const secrets = real(join(workspace, '.env'));
  if (!existsSync(secrets) || !paths.some((path) => contains(path, secrets))) return undefined;
  return {
    severity: 'warning',
    line: spec.source.line,
    server: spec.name,
    message: `Server ${quote(spec.name)} can read .env in the workspace.`,
    fix: 'Give it a narrower folder, or move the secrets with `qm secret set NAME`.',
  };
}

const fileServer = /filesystem|desktop-commander|server-files|mcp-files/i;
