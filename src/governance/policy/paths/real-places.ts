import { lstatSync, realpathSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, normalize, resolve } from 'node:path';
import { errnoOf } from '../../../base/index.ts';

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

function realOrUndefined(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch (error) {
    const parent = dirname(path);
    if (errnoOf(error) !== 'ENOENT' || parent === path || isLink(path)) return undefined;
    const above = realOrUndefined(parent);
    return above === undefined ? undefined : join(above, basename(path));
  }
}

/** A link to nothing: what is written through it would appear at its target. */
function isLink(path: string): boolean {
  try {
    return lstatSync(path).isSymbolicLink();
  } catch (error) {
    return errnoOf(error) !== 'ENOENT';
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
