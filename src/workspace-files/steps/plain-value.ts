import { isDeepStrictEqual } from 'node:util';
import { isJsonObject } from '../../base/index.ts';
import type { Dialect } from '../text/text-tree.ts';
import type { FileStep, KeyPath } from './file-step.ts';

/** The content of a file after a step, as far as its meaning goes. */
export function afterStep(content: unknown, step: FileStep): unknown {
  switch (step.kind) {
    case 'put':
      return withValue(content, step.path, step.value);
    case 'remove':
      return withoutValue(content, step.path);
    case 'include': {
      const list = valueAt(content, step.path);
      return withValue(content, step.path, [...(Array.isArray(list) ? list : []), step.item]);
    }
  }
}

/** Whether two files mean the same. Tables of TOML that nothing is in need not be written. */
export function isSameContent(left: unknown, right: unknown, dialect: Dialect): boolean {
  if (dialect !== 'toml') return isDeepStrictEqual(left, right);
  return isDeepStrictEqual(withoutEmpty(left), withoutEmpty(right));
}

function withoutEmpty(content: unknown): unknown {
  if (!isJsonObject(content) || content instanceof Date) return content;
  const members = Object.entries(content).map(([key, value]) => [key, withoutEmpty(value)] as const);
  return Object.fromEntries(members.filter(([, value]) => !isJsonObject(value) || Object.keys(value).length > 0));
}

export function valueAt(content: unknown, path: KeyPath): unknown {
  let here = content;
  for (const key of path) here = isJsonObject(here) && Object.hasOwn(here, key) ? here[key] : undefined;
  return here;
}

function withValue(content: unknown, [key, ...rest]: KeyPath, value: unknown): unknown {
  if (key === undefined) return value;
  const map = isJsonObject(content) ? content : {};
  const inner = Object.hasOwn(map, key) ? map[key] : undefined;
  return Object.fromEntries([...Object.entries(map), [key, withValue(inner, rest, value)]]);
}

function withoutValue(content: unknown, [key, ...rest]: KeyPath): unknown {
  if (key === undefined || !isJsonObject(content) || !Object.hasOwn(content, key)) return content;
  const others = Object.entries(content).filter(([name]) => name !== key);
  if (rest.length === 0) return Object.fromEntries(others);
  return Object.fromEntries([...others, [key, withoutValue(content[key], rest)]]);
}
