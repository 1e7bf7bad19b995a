import type { Plain } from '../text/render-member.ts';

/** Keys that lead to a member, its own last. */
export type KeyPath = readonly string[];

/** One change of a configuration file that can be undone. */
export type FileStep =
  /** Adds a member, or replaces a scalar. Maps on the way are made. */
  | { readonly kind: 'put'; readonly path: KeyPath; readonly value: Plain }
  | { readonly kind: 'remove'; readonly path: KeyPath }
  /** Adds a text to a list, which is made if it is missing. */
  | { readonly kind: 'include'; readonly path: KeyPath; readonly item: string };

/** A step that changed a text, with everything that undoing it needs. */
export interface TakenStep {
  readonly step: FileStep;
  /** The text that went, as it was written. */
  readonly replaced?: string | undefined;
  /** The key of the member before it. */
  readonly behind?: string | undefined;
  /** How many maps and lists on the way the step made. */
  readonly made: number;
}

/** One change of a text: what stood at `at` before and after. */
export interface TextSplice {
  readonly at: number;
  readonly removed: string;
  readonly inserted: string;
}

/** The steps that were taken on one text. */
export interface TakenSteps {
  readonly taken: readonly TakenStep[];
  /** One for each step, each in the text that the steps before it left. */
  readonly splices: readonly TextSplice[];
  /** The text that the steps left. */
  readonly after: string;
}

export function spliceBetween(before: string, after: string): TextSplice {
  const most = Math.min(before.length, after.length);
  let start = 0;
  while (start < most && before[start] === after[start]) start += 1;
  let end = 0;
  while (end < most - start && before.at(-1 - end) === after.at(-1 - end)) end += 1;
  return {
    at: start,
    removed: before.slice(start, before.length - end),
    inserted: after.slice(start, after.length - end),
  };
}
