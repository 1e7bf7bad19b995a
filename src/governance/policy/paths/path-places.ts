import { isAbsolute, join, resolve } from 'node:path';
import type { TransportSpec } from '../../../domain/index.ts';
import { pathTexts } from './path-texts.ts';
import { type PathPlace, placeOfPath } from './real-places.ts';

/** Finds every place that a server may mean by a path. Undefined if one of them cannot be told. */
export type PlacesOf = (written: string) => readonly PathPlace[] | undefined;

export interface LocalServer {
  /** Folders that a relative path may start from. Empty: not known. */
  readonly bases: readonly string[];
  readonly home: string | undefined;
}

/** More folders than any server is given. */
const maxBases = 16;

/** Resolves as a program on this machine does. */
export function createLocalPlaces({ bases, home }: LocalServer): PlacesOf {
  return (written) => {
    const texts = pathTexts(written);
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

/** Compares texts alone: the files are on another machine. Its folders begin at `/`. */
export function createRemotePlaces(): PlacesOf {
  return (written) => {
    const texts = pathTexts(written);
    if (texts?.some((text) => text.startsWith('~')) !== false) return undefined;
    return texts.map((text) => resolve('/', text)).map((path) => ({ lexical: path, real: path }));
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
  if (transport.type !== 'stdio' && transport.type !== 'builtin') return [];
  const { args, cwd } = transport;
  const folders = args.filter((arg) => !arg.startsWith('-') && !arg.startsWith('@')).map((arg) => resolve(cwd, arg));
  return [...new Set([cwd, ...folders])];
}
