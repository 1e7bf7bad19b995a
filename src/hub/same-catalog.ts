import { isDeepStrictEqual } from 'node:util';
import type { Catalog } from '../domain/index.ts';

/** Whether clients would read the same lists. */
export function isSameCatalog(a: Catalog | undefined, b: Catalog | undefined): boolean {
  if (a === undefined || b === undefined || a === b) return a === b;
  if (a.withheld !== b.withheld) return false;
  const lists = ['tools', 'resources', 'templates', 'prompts'] as const;
  return lists.every((list) => isSameList(a[list], b[list])) && isDeepStrictEqual(a.abilities, b.abilities);
}

/** Compares the texts, because clients read more of a tool than its fingerprint covers. */
function isSameList(a: readonly { readonly text: string }[], b: readonly { readonly text: string }[]): boolean {
  return a.length === b.length && a.every(({ text }, index) => text === b[index]?.text);
}
