import { statSync } from 'node:fs';
import { isAbsolute, join, resolve } from 'node:path';
import type { ProgramSettings, TransportSpec } from '../../../domain/index.ts';
import { pathTexts } from './path-texts.ts';
import { type PathPlace, placeOfPath } from './real-places.ts';

/** Finds every place that a server may mean by a path. Undefined if one of them cannot be told. */
export type PlacesOf = (written: string) => readonly PathPlace[] | undefined;

export interface LocalServer {
  /** Folders that a relative path may start from, as they are now. Empty: not known. */
  bases(): readonly string[];
  readonly home: string | undefined;
}

/** More folders than any server is given. */
const maxBases = 16;

/** Resolves as a program on this machine does. */
export function createLocalPlaces({ bases: basesNow, home }: LocalServer): PlacesOf {
  return (written) => {
    const texts = pathTexts(written);
    const bases = basesNow();
    if (texts === undefined || bases.length > maxBases) return undefined;
    const places = new Map<string, PathPlace>();
    for (const text of texts) {
      const paths = absolutePaths(text, bases, home);
      if (paths.length === 0) return undefined;
      for (const path of paths) {
        const place = placeOfPath(path);
        if (place === undefined) return undefined;
        places.set(`${place.lexical}\0${place.real}`, place);
      }
    }
    return [...places.values()];
  };
}

function absolutePaths(text: string, bases: readonly string[], home: string | undefined): readonly string[] {
  // Some programs expand it, and others have a folder of that name.
  if (text.startsWith('~')) {
    if (home === undefined || !(text === '~' || text.startsWith('~/'))) return [];
    return [`${home}/${text.slice(2)}`, ...bases.map((base) => join(base, text))];
  }
  // Not `join`, which resolves `..` in the text.
  return isAbsolute(text) ? [text] : bases.map((base) => `${base}/${text}`);
}

/** The working folder, and the folders that are given to the program. */
export function basesOf(transport: TransportSpec): readonly string[] {
  return transport.type === 'stdio' || transport.type === 'builtin'
    ? [...new Set([transport.cwd, ...givenFolders(transport)])]
    : [];
}

/** Arguments that are folders. One may appear after the configuration was read. */
export function givenFolders({ args, cwd }: ProgramSettings): readonly string[] {
  const named = args.filter((arg) => !arg.startsWith('-')).map((arg) => resolve(cwd, arg));
  return [...new Set(named)].filter(isFolder);
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}
