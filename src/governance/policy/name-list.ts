import { isPattern } from '../../domain/index.ts';
import { createPatternIndex } from './rules/pattern-index.ts';

/** The names of one include or exclude list. */
export interface NameList {
  matchesAny(names: readonly string[]): boolean;
  /** Whether an entry without a wildcard equals one of the names. */
  namesAny(names: readonly string[]): boolean;
}

/**
 * The spellings of a tool in a list. A name that fits two tools means both: `files_read`, where the server has `read`
 * and `files_read`.
 */
export function toolSpellings(server: string, tool: string, exposedName: string): readonly string[] {
  return [tool, `${server}_${tool}`, `${server}.${tool}`, exposedName];
}

export function compileNameList(entries: readonly string[]): NameList {
  const exact = new Set<string>();
  const patterns = createPatternIndex<true>();
  for (const entry of entries) {
    if (isPattern(entry)) patterns.add(entry, true);
    else exact.add(entry);
  }
  const namesAny = (names: readonly string[]): boolean => names.some((name) => exact.has(name));
  return {
    namesAny,
    matchesAny(names) {
      if (namesAny(names)) return true;
      let matched = false;
      for (const name of names) {
        patterns.visit(name, () => {
          matched = true;
        });
      }
      return matched;
    },
  };
}
