import { readlink, realpath } from 'node:fs/promises';
import { extname, join, relative, resolve } from 'node:path';
import { digestFile } from '../file-digest.ts';
import { readPlainFile } from '../plain-file.ts';
import { isJsonObject } from '../text/json.ts';
import { followSymlinks, liesIn } from './follow-symlinks.ts';
import { binFolders, type CodeName, type Program, programNames } from './program-names.ts';
import { scriptEndings } from './script-words.ts';

/** A file of a folder that a program names. Paths are relative to the folder. */
export type ProgramFile =
  | { readonly kind: 'file'; readonly path: string; readonly sha256: string }
  /** Larger than `maxCheckedBytes`: data, or nothing that a person reviews. */
  | { readonly kind: 'large'; readonly path: string }
  | { readonly kind: 'link'; readonly path: string; readonly target: string }
  /** It would be run if it were there. */
  | { readonly kind: 'absent'; readonly path: string };

const maxCheckedBytes = 16 * 1024 * 1024;

/** Bounds the work. What is run comes first; names beyond are not looked at. */
const maxNames = 1024;

/**
 * The files of a folder that a program runs or is given, with their content, and the links on the way to them. Two equal
 * answers mean that the program would run the same files.
 */
export async function programFiles(program: Program, folder: string): Promise<readonly ProgramFile[]> {
  const root = await realpath(folder).catch(() => folder);
  const files = new Map<string, ProgramFile>();
  const keep = (found: readonly ProgramFile[]): void => {
    for (const file of found) files.set(`${file.kind} ${file.path}`, file);
  };
  const { code, other } = programNames(program);
  for (const name of code.slice(0, maxNames)) keep(await codeFiles(name, root));
  for (const path of other.slice(0, maxNames))
    keep((await namedFile(path, root, isExempt)) ?? absentScript(path, root));
  return [...files.values()].sort(byPath);
}

/** Whether a file of the folder is as it was. */
export async function stillHas(folder: string, file: ProgramFile): Promise<boolean> {
  const root = await realpath(folder).catch(() => folder);
  const path = join(root, file.path);
  switch (file.kind) {
    case 'file': {
      const found = await digestFile(path, maxCheckedBytes);
      return found.kind === 'digest' && found.sha256 === file.sha256;
    }
    case 'large':
      return (await digestFile(path, maxCheckedBytes)).kind === 'too-large';
    case 'link':
      return (await readlink(path).catch(() => undefined)) === file.target;
    case 'absent':
      return (await namedFile(path, root)) === undefined;
  }
}

function byPath(left: ProgramFile, right: ProgramFile): number {
  if (left.path !== right.path) return left.path < right.path ? -1 : 1;
  return left.kind < right.kind ? -1 : 1;
}

/** Everything that the runtime would look at, because what comes first wins. */
async function codeFiles({ path, lookup }: CodeName, root: string): Promise<readonly ProgramFile[]> {
  if (lookup === 'bin') return presentOf([...binFolders(unversioned(path), root)], root);
  if (lookup === 'settings') return (await namedFile(path, root)) ?? [];
  if (lookup === 'module') {
    return presentOf([`${path}.py`, join(path, '__init__.py'), join(path, '__main__.py')], root);
  }
  const own = await namedFile(path, root);
  if (own !== undefined) return own;
  const more = lookup === 'node' ? await nodeFiles(path, root) : await presentOf([join(path, '__main__.py')], root);
  if (more.length > 0) return more;
  const { links, path: goal } = await followSymlinks(path, root);
  return [...links.map((link) => linkFile(link, root)), ...absentFile(goal, root)];
}

const nodeEndings = ['.js', '.cjs', '.mjs', '.json', '.node', '.ts', '.cts', '.mts', '.tsx', '.jsx'] as const;

async function nodeFiles(path: string, root: string, main = true): Promise<readonly ProgramFile[]> {
  const inside = nodeEndings.map((ending) => join(path, `index${ending}`));
  const found = await presentOf([...nodeEndings.map((ending) => `${path}${ending}`), ...inside], root);
  if (!main) return found;
  const settings = join(path, 'package.json');
  const named = await mainOf(settings);
  const mains =
    named === undefined
      ? []
      : ((await namedFile(resolve(path, named), root)) ?? (await nodeFiles(resolve(path, named), root, false)));
  return [...((await namedFile(settings, root)) ?? []), ...mains, ...found];
}

async function mainOf(path: string): Promise<string | undefined> {
  try {
    const found = await readPlainFile(path, maxSettingsBytes);
    const settings: unknown = found.kind === 'bytes' ? JSON.parse(found.bytes.toString('utf8')) : undefined;
    return isJsonObject(settings) && typeof settings.main === 'string' && !settings.main.includes('\0')
      ? settings.main
      : undefined;
  } catch {
    return undefined;
  }
}

const maxSettingsBytes = 1024 * 1024;

/** `npx @scope/name@1.2` runs `name`. */
function unversioned(path: string): string {
  return path.replace(/(?<=[^/])@[^/@]*$/, '');
}

async function presentOf(paths: readonly string[], root: string): Promise<readonly ProgramFile[]> {
  const found = await Promise.all(paths.map((path) => namedFile(path, root)));
  return found.flatMap((files) => files ?? []);
}

/** Undefined unless it leads to a regular file and passes through the folder. */
async function namedFile(
  path: string,
  root: string,
  isLeftOut: (said: string, real: string) => boolean = () => false,
): Promise<readonly ProgramFile[] | undefined> {
  const { links, path: real, kind } = await followSymlinks(path, root);
  if (kind !== 'file' || isLeftOut(path, real)) return undefined;
  return [...links.map((link) => linkFile(link, root)), ...(await contentOf(real, root))];
}

async function contentOf(path: string, root: string): Promise<readonly ProgramFile[]> {
  if (!liesIn(root, path)) return [];
  const digest = await digestFile(path, maxCheckedBytes);
  const where = relative(root, path);
  if (digest.kind === 'no-file') return [{ kind: 'absent', path: where }];
  return [
    digest.kind === 'digest' ? { kind: 'file', path: where, sha256: digest.sha256 } : { kind: 'large', path: where },
  ];
}

function linkFile({ path, target }: { readonly path: string; readonly target: string }, root: string): ProgramFile {
  return { kind: 'link', path: relative(root, path), target };
}

function absentFile(path: string, root: string): readonly ProgramFile[] {
  return liesIn(root, path) && path !== root ? [{ kind: 'absent', path: relative(root, path) }] : [];
}

function absentScript(path: string, root: string): readonly ProgramFile[] {
  return scriptEndings.has(extname(path)) ? absentFile(path, root) : [];
}

/** Data that servers write themselves. Its content says nothing about what the server does. */
function isExempt(said: string, real: string): boolean {
  return [said, real].every((path) => dataEndings.has(extname(path).toLowerCase()));
}

const dataEndings: ReadonlySet<string> = new Set(
  '.csv .db .db3 .duckdb .jsonl .log .ndjson .parquet .sqlite .sqlite3 .tsv'.split(' '),
);
