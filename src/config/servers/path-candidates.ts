import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export interface CandidateOptions {
  readonly home: string | undefined;
  readonly cwd: string;
  /** The program runs its arguments as commands. */
  readonly isShell: boolean;
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

/**
 * Everything in a text that a program, or a shell that it starts, could take for a path: `["/a","/b"]`, `/a;/b`, `~/x`,
 * `-v/a:/b`, `@/a`, `/a/*`, `sh -c "cat $HOME/x"`.
 */
export function coveredCandidates(text: string, options: CandidateOptions): readonly string[] {
  // In code, a lone slash or dot is seldom a path. In a list or in a shell it is one.
  const isList = options.isShell || !/\s/.test(text);
  const words = readingsOf(text, options)
    .flatMap((each) => each.split(separators))
    .flatMap((word) => [word, ...word.split(':')])
    .flatMap((word) => [word, ...pathBehind(word)]);
  const paths = words.filter((word) => /[/~.]/.test(word) && (isList || !/^[/.]*$/.test(word)));
  const all = new Set([...pathCandidates(text), ...paths].map((word) => asPath(word, options.home)));
  return [...all].flatMap(beforeWildcard).filter((word) => word !== '' && word.length <= maxCharacters);
}

/** The text as written, with the variables that a shell would replace, and as JSON and URLs write it. */
function readingsOf(text: string, { home, cwd }: CandidateOptions): readonly string[] {
  const expanded = [
    [homeVariable, home],
    [cwdVariable, cwd],
  ] as const;
  const shell = expanded.reduce(
    (all, [variable, value]) => (value === undefined ? all : all.replace(variable, () => value)),
    text,
  );
  return [...new Set([text, shell, text.replace(escapedSlash, '/'), text.replace(/%2f/gi, '/').replace(/%7e/gi, '~')])];
}

const homeVariable = /\$(?:HOME(?!\w)|\{HOME\})/g;
const cwdVariable = /\$(?:PWD(?!\w)|\{PWD\})/g;
const escapedSlash = /\\(?:\/|u002f)/gi;
const separators = /[\s"'`()[\]{}<>;,|&=]+/;

/**
 * A path that a flag or a sign stands before, as in `-v/a`, `--root/a`, `@/a`. Other words with a slash are relative paths
 * or names: `docs/home`, `@scope/home`, `*.d/home`.
 */
function pathBehind(word: string): readonly string[] {
  const start = word.search(/[/~]/);
  if (start < 1) return [];
  const [before, path] = [word.slice(0, start), word.slice(start)];
  // `-Isrc/` is a folder here; `-v/` is all folders.
  if (/^\/+$/.test(path)) return /^-\w$/.test(before) ? [path] : [];
  return /^-|^[^\w.*?$-]+$/.test(before) ? [path] : [];
}

/** `/home/me/*` says as much as `/home/me`. */
function beforeWildcard(path: string): readonly string[] {
  const at = path.search(/[*?]/);
  if (at < 0) return [path];
  const folder = path.slice(0, path.slice(0, at).lastIndexOf('/') + 1);
  return /^\/*$/.test(folder) ? [path] : [path, folder];
}

function asPath(word: string, home: string | undefined): string {
  if (/^file:/i.test(word)) return pathOf(word);
  const [, name, rest = ''] = /^~([^/]*)(\/.*)?$/s.exec(word) ?? [];
  const isHome = home !== undefined && name !== undefined && (name === '' || name === basename(home));
  // The root of another process may be unreadable for the hub, and readable for the server.
  return isHome ? join(home, rest) : word.replace(/^\/proc\/[^/]+\/root(?=\/|$)/, '/.');
}

function pathOf(url: string): string {
  try {
    return fileURLToPath(url);
  } catch {
    return url;
  }
}
