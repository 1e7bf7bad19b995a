import { basename, dirname, isAbsolute, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runnerFiles } from '../program-start/runner-files.ts';
import { type ScriptLookup, scanWords } from './script-words.ts';

/** A program as it is started. */
export interface Program {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

export interface CodeName {
  /** Absolute. */
  readonly path: string;
  readonly lookup: ScriptLookup;
}

export interface ProgramNames {
  /** What is run or loaded. Counts whatever its ending, and whether it is there or not. */
  readonly code: readonly CodeName[];
  /** Everything else that could be a file. */
  readonly other: readonly string[];
}

/** The files that a program's command, arguments and variables may name. */
export function programNames({ command, args, cwd, env }: Program): ProgramNames {
  const code = new Map<string, CodeName>();
  const other = new Set<string>();
  const add = (text: string, lookup: ScriptLookup): void => {
    for (const path of pathsIn(lookup === 'module' ? text.replaceAll('.', '/') : text)) {
      const named = { path: resolve(cwd, path), lookup };
      code.set(`${lookup} ${named.path}`, named);
    }
  };
  // A program without a slash is looked up in PATH, and the folder it starts in is not.
  if (command.includes('/')) add(command, 'exact');
  else for (const folder of foldersIn(env.PATH, cwd)) add(join(folder, command), 'exact');
  const shortest = [command, ...args].map((text) => text.slice(0, maxCharacters));
  for (const words of [shortest, ...shortest.map(wordsOf), ...loadedBy(env)]) {
    for (const { text, lookup } of scanWords(words)) add(text, lookup);
  }
  for (const path of runnerFiles({ command, args, cwd, env }, { workspace: cwd, home: undefined })) {
    code.set(`settings ${path}`, { path, lookup: 'settings' });
  }
  for (const text of shortest.slice(1).flatMap((arg) => [arg, ...wordsOf(arg)])) {
    for (const path of pathsIn(text)) other.add(resolve(cwd, path));
  }
  return { code: [...code.values()], other: [...other] };
}

const maxCharacters = 4096;

/** The words of a text that a shell may run. Empty for a single word. */
function wordsOf(text: string): readonly string[] {
  return /\s/.test(text) ? text.split(/[\s"'`;|&()<>]+/).filter((word) => word !== '') : [];
}

/** Paths may stand after a flag, in a list or as a URL. */
function pathsIn(text: string): readonly string[] {
  const parts = [text, ...text.split(/[=,:]/)];
  return [...new Set(parts)].flatMap((part) => {
    if (part === '' || part.includes('\0')) return [];
    if (!part.startsWith('file://')) return [part];
    try {
      return [fileURLToPath(part)];
    } catch {
      return [];
    }
  });
}

/** Variables by which a runtime loads code. */
function loadedBy(env: Program['env']): readonly (readonly string[])[] {
  const words = (name: string, pattern: RegExp): string[] => (env[name] ?? '').slice(0, maxCharacters).split(pattern);
  return [
    ['node', ...words('NODE_OPTIONS', /\s+/)],
    ['bun', ...words('BUN_OPTIONS', /\s+/)],
    ['ruby', ...words('RUBYOPT', /\s+/)],
    ...['BASH_ENV', 'ENV', 'PYTHONSTARTUP', 'LD_PRELOAD', 'DYLD_INSERT_LIBRARIES'].flatMap((name) =>
      words(name, /[\s:]+/).map((file) => ['sh', file]),
    ),
  ].map((all) => all.filter((word) => word !== ''));
}

function foldersIn(path: string | undefined, cwd: string): readonly string[] {
  if (path === undefined) return [];
  return path
    .slice(0, maxCharacters)
    .split(':')
    .map((folder) => (isAbsolute(folder) ? folder : resolve(cwd, folder)));
}

/** Folders from this one up to the root that hold installed packages. */
export function binFolders(path: string, root: string): readonly string[] {
  const folders: string[] = [];
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    folders.push(join(folder, 'node_modules', '.bin', basename(path)));
    if (folder === root || dirname(folder) === folder) return folders;
  }
}
