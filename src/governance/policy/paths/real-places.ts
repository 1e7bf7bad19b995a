import { lstatSync, realpathSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, normalize, resolve } from 'node:path';

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
 * link to nothing has no place: what is written through it would appear at its target.
 */
function realOrUndefined(path: string): string | undefined {
  const missing: string[] = [];
  let there = path;
  try {
    while (lstatSync(there, { throwIfNoEntry: false }) === undefined && dirname(there) !== there) {
      missing.unshift(basename(there));
      there = dirname(there);
    }
    return join(realpathSync.native(there), ...missing);
  } catch {
    return undefined;
  }
}

function hasUpwardStep(path: string): boolean {
  const steps = path.split('/');
  const named = steps.findIndex((step) => step !== '' && step !== '.' && step !== '..');
  return named >= 0 && steps.indexOf('..', named) > named;
}

/** As the system resolves it, step by step. */
function physicalPath(path: string): string | undefined {
  if (!isAbsolute(path)) return undefined;
  let here = '/';
  for (const step of path.split('/')) {
    if (step === '' || step === '.') continue;
    const next = step === '..' ? dirname(here) : realOrUndefined(join(here, step));
    if (next === undefined) return undefined;
    here = next;
  }
  return normalize(here);
}
