import { resolve } from 'node:path';
import type { CallArguments, Configuration, Decision } from '../../../domain/index.ts';
import type { PathArgument, PathUse } from './known-path-tools.ts';
import type { PlacesOf } from './path-places.ts';
import { protectedPart } from './protected-paths.ts';
import { placeOfPath } from './real-places.ts';

/** Denies a call whose arguments lead to a protected path. */
export type Protection = (named: readonly PathArgument[], args: CallArguments) => Decision | undefined;

/** `allowPaths` lifts the protection of a path that it names, or that lies in one which it names. */
export function createProtection(placesOf: PlacesOf, { workspace, allowPaths }: Configuration): Protection {
  const home = placeOfPath(workspace)?.real ?? workspace;
  const allowed = allowPaths.map((path) => resolve(workspace, path)).map((path) => placeOfPath(path)?.real ?? path);

  function isLifted(path: string, use: PathUse): boolean {
    return allowed.some((each) => (path === each || path.startsWith(`${each}/`)) && partOf(each, use) !== undefined);
  }

  function partOf(path: string, use: PathUse): string | undefined {
    return protectedPart(path, use, home) ?? (home === workspace ? undefined : protectedPart(path, use, workspace));
  }

  function judge(text: unknown, use: PathUse): Decision | undefined {
    const places = typeof text === 'string' ? placesOf(text) : undefined;
    if (places === undefined) return unclear;
    for (const { lexical, real } of places) {
      const part = partOf(real, use) ?? partOf(lexical, use);
      if (part !== undefined && !isLifted(real, use)) return denied(part);
    }
    return undefined;
  }

  return (named, args) => {
    for (const { argument, use, under } of named) {
      for (const text of textsAt(args, argument)) {
        const refusal = judge(under === undefined ? text : joined(args[under], text), use);
        if (refusal !== undefined) return refusal;
      }
    }
    return undefined;
  };
}

/** `a`, or `a.*`. A missing argument has no value. */
function textsAt(args: CallArguments, argument: string): readonly unknown[] {
  const isList = argument.endsWith('.*');
  const name = isList ? argument.slice(0, -2) : argument;
  const value = Object.hasOwn(args, name) ? args[name] : undefined;
  if (value === undefined || value === null) return [];
  return isList && Array.isArray(value) ? value : [value];
}

function joined(folder: unknown, path: unknown): unknown {
  return typeof folder === 'string' && typeof path === 'string' ? relativeTo(folder, path) : path;
}

function relativeTo(folder: string, path: string): string {
  return path.startsWith('/') ? path : `${folder}/${path}`;
}

function denied(path: string): Decision {
  return { effect: 'deny', reason: { kind: 'protected-path', path } };
}

const unclear: Decision = { effect: 'deny', reason: { kind: 'unclear-path' } };
