import { homedir } from 'node:os';
import { isAbsolute, join, posix, relative, resolve } from 'node:path';
import {
  type ArgumentPaths,
  allHold,
  anyHolds,
  type CallArguments,
  type Configuration,
  type Decision,
  type Holds,
  type ServerSpec,
  type TextPattern,
} from '../../../domain/index.ts';
import { recogniseServer } from '../recognise-server.ts';
import { type KnownPathTools, knownPathTools, type PathArgument, usualPathArguments } from './known-path-tools.ts';
import { basesOf, createLocalPlaces, givenFolders, type PlacesOf } from './path-places.ts';
import { pathTexts } from './path-texts.ts';
import { createProtection, type Protection } from './protection.ts';
import { type PathPlace, placeOfPath } from './real-places.ts';

/** What the hub knows about the paths that a server takes. */
export interface PathGuard {
  on(tool: string): PathsOfTool;
}

export interface PathsOfTool {
  readonly paths: ArgumentPaths;
  /** Denies paths that no agent needs. Undefined if no argument of the tool is known to be a path. */
  readonly refuse: ((args: CallArguments) => Decision | undefined) | undefined;
}

/** A server without a program works on another machine, unless its entry says otherwise. */
export function compilePathGuard(spec: ServerSpec, configuration: Configuration): PathGuard {
  const known = knownPathTools[recogniseServer(spec)?.name ?? ''];
  const isHere = spec.paths === 'local' || [spec.transport, ...spec.fallbacks].every(isProgram);
  const placesOf = isHere ? localPlaces(spec, known) : undefined;
  const { workspace } = configuration;
  const protect = placesOf && createProtection(placesOf, configuration);
  return {
    on(tool) {
      const listed = known !== undefined && Object.hasOwn(known.tools, tool) ? known.tools[tool] : undefined;
      const named = listed ?? (spec.paths === 'local' && known === undefined ? usualPaths : []);
      const names = new Set(named.map(({ argument }) => argument));
      // The tool ignores it and uses others, so it says nothing about where the call leads.
      const isIgnored = (argument: string): boolean => listed !== undefined && !names.has(argument);
      return {
        paths: {
          isInside(argument, text, folder) {
            if (isIgnored(argument)) return 'unknown';
            if (placesOf === undefined) return isInsideText(text, folder);
            return isInsideFolder(placesOf(text), resolve(workspace, folder));
          },
          matchesGlob(argument, text, glob) {
            if (placesOf === undefined) return undefined;
            if (names.has(argument)) return matches(placesOf(text), glob, workspace);
            return isIgnored(argument) && isPathName(argument) ? 'unknown' : undefined;
          },
        },
        refuse: refusal(named, protect),
      };
    },
  };
}

function refusal(named: readonly PathArgument[], protect: Protection | undefined): PathsOfTool['refuse'] {
  return named.length === 0 || protect === undefined ? undefined : (args) => protect(named, args);
}

/** What such a tool does with its paths is not known, so it counts as moving them, which most is denied to. */
const usualPaths: readonly PathArgument[] = usualPathArguments.map((argument) => ({ argument, use: 'move' }));

function isPathName(argument: string): boolean {
  return usualPathArguments.includes(argument);
}

function isProgram({ type }: ServerSpec['transport']): boolean {
  return type === 'stdio' || type === 'builtin';
}

function localPlaces({ transport, roots }: ServerSpec, known: KnownPathTools | undefined): PlacesOf {
  const env = 'env' in transport ? transport.env : {};
  // Where a client chooses the folders, nobody can say what a relative path starts from.
  const bases = (): readonly string[] => (roots === 'none' ? basesOf(transport) : []);
  const placesOf = createLocalPlaces({ bases, home: env.HOME ?? homedir() });
  if (known?.isConfined !== true || roots !== 'none' || !('args' in transport)) return placesOf;
  return (written) => {
    const places = placesOf(written);
    if (places?.length === 1) return places;
    const folders = givenFolders(transport).map((folder) => placeOfPath(folder)?.real ?? folder);
    const reachable = places?.filter(({ real }) => folders.some((folder) => isIn(folder, real)));
    return reachable === undefined || reachable.length === 0 ? places : reachable;
  };
}

/** Both the text and the place that it leads to count, so a link in neither direction changes the answer. */
function isInsideFolder(places: readonly PathPlace[] | undefined, folder: string): Holds {
  const target = placeOfPath(folder);
  if (places === undefined || target === undefined) return 'unknown';
  return agreed(places, ({ lexical, real }) => {
    if (isIn(target.real, real)) return isIn(folder, lexical) || isIn(target.real, lexical) ? true : 'unknown';
    const isClose = isIn(folder, lexical) || isIn(fold(target.real), fold(real)) || isIn(fold(folder), fold(lexical));
    return isClose ? 'unknown' : false;
  });
}

function matches(places: readonly PathPlace[] | undefined, glob: TextPattern, workspace: string): Holds {
  if (places === undefined) return 'unknown';
  const home = placeOfPath(workspace)?.real ?? workspace;
  const fits = (path: string, folder: string): boolean =>
    glob(path) || (isIn(folder, path) && glob(relative(folder, path)));
  return agreed(places, ({ lexical, real }) => agreed([fits(lexical, workspace), fits(real, home)], (each) => each));
}

/** For servers on other machines: by the text alone. */
function isInsideText(text: string, folder: string): Holds {
  const texts = pathTexts(text);
  if (texts === undefined) return 'unknown';
  return agreed(texts, (each) => {
    if (isAbsolute(each) !== isAbsolute(folder) || each.startsWith('~')) return 'unknown';
    const path = posix.join('/', each);
    if (!isAbsolute(each) && posix.normalize(each).startsWith('..')) return 'unknown';
    if (isIn(join('/', folder), path)) return true;
    return isIn(fold(join('/', folder)), fold(path)) ? 'unknown' : false;
  });
}

/** True or false if it is so for all, else unknown. */
function agreed<T>(items: readonly T[], judge: (item: T) => Holds): Holds {
  const holds = items.map(judge);
  if (allHold(holds, (each) => each) === true) return true;
  return anyHolds(holds, (each) => each) === false ? false : 'unknown';
}

function isIn(folder: string, path: string): boolean {
  return path === folder || path.startsWith(folder.endsWith('/') ? folder : `${folder}/`);
}

function fold(path: string): string {
  return path.normalize('NFKC').toLowerCase();
}
