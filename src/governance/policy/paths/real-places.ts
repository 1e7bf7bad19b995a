import { lstatSync, realpathSync } from 'node:fs';
import { dirname, isAbsolute, join, normalize, resolve } from 'node:path';

/** A path as it is written after `..` is resolved in the text, and the place where it leads. */
export interface PathPlace {
  readonly lexical: string;
  readonly real: string;
}

/**
 * Where a path leads, links followed in the part that exists. Undefined if that cannot be told: a link to nothing, a
 * circle, a folder that may not be read.
 */
export function placeOfPath(path: string): PathPlace | undefined {
  const lexical = resolve(path);
  const real = realOrUndefined(lexical);
  if (real === undefined) return undefined;
  // The system follows a link before it goes up from it. Node and most servers resolve `..` in the text first.
  if (!hasUpwardStep(path)) return { lexical, real };
  const physical = physicalPath(path);
  return physical === real ? { lexical, real } : undefined;
}

/**
 * Asks what is there before it follows links, because an exception for each missing level costs more than the rest. A
 * link to nothing has no place: what is written through it would appear at its target. Below a missing level nothing
 * exists, so the deepest existing one is found by halving: an agent chooses how many levels there are.
 */
function realOrUndefined(path: string): string | undefined {
  const ends = endsOfSteps(path);
  try {
    let [existing, missing] = [0, ends.length];
    while (missing - existing > 1) {
      const middle = (existing + missing) >> 1;
      if (isThere(path.slice(0, ends[middle]))) existing = middle;
      else missing = middle;
    }
    const end = ends[existing] ?? 1;
    return join(realpathSync.native(path.slice(0, end)), path.slice(end));
  } catch {
    return undefined;
  }
}

function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

/** Where the root and each step of a resolved path end. */
function endsOfSteps(path: string): readonly number[] {
  const ends = [1];
  for (let end = path.indexOf('/', 1); end > 0; end = path.indexOf('/', end + 1)) ends.push(end);
  if (path.length > 1) ends.push(path.length);
  return ends;
}

function hasUpwardStep(path: string): boolean {
  const steps = path.split('/');
  const named = steps.findIndex((step) => step !== '' && step !== '.' && step !== '..');
  return named >= 0 && steps.indexOf('..', named) > named;
}

/** As the system resolves it, step by step. Below a missing level there is nothing to ask the system about. */
function physicalPath(path: string): string | undefined {
  if (!isAbsolute(path)) return undefined;
  let here = '/';
  const missing: string[] = [];
  for (const step of path.split('/')) {
    if (step === '' || step === '.') continue;
    if (step === '..') {
      if (missing.pop() === undefined) here = dirname(here);
    } else if (missing.length > 0) missing.push(step);
    else {
      const next = stepInto(here, step);
      if (next === undefined) return undefined;
      if (next === 'missing') missing.push(step);
      else here = next.real;
    }
  }
  return normalize(join(here, ...missing));
}

function stepInto(folder: string, step: string): { readonly real: string } | 'missing' | undefined {
  const path = join(folder, step);
  try {
    const found = lstatSync(path, { throwIfNoEntry: false });
    if (found === undefined) return 'missing';
    return { real: found.isSymbolicLink() ? realpathSync.native(path) : path };
  } catch {
    return undefined;
  }
}
