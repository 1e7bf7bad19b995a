import { didYouMean } from '../base/index.ts';
import type { ToolPolicy } from '../domain/index.ts';
import { repeated } from './check-node.ts';
import { child, entryOf, type SourceMap } from './files/source-tree.ts';
import { type Finding, quote } from './findings.ts';
import { denyEverything } from './restrictions/read-policy.ts';
import { looksRestrictive } from './restrictions/restriction-words.ts';

/** The top-level keys of a file with restrictions. */
export interface SectionsFormat {
  readonly sections: readonly string[];
  /** The sections that restrict agents. */
  readonly restrictions: readonly string[];
  readonly unknownKeys: Finding['severity'];
}

/** Ends messages about restrictions that cannot be understood. */
export const nothingAllowed = 'Until this is corrected every tool is denied.';

export function findRepeatedSection(root: SourceMap, file: string): Omit<Finding, 'severity'> | undefined {
  const lines = new Map<string, number>();
  for (const { key, line } of root.entries) {
    const first = lines.get(key);
    if (first !== undefined) return { line, field: key, ...repeated(file, key, first, line) };
    lines.set(key, line);
  }
  return undefined;
}

/** Reports unknown keys. If one looks like a lost restriction, returns the policy to use instead. */
export function checkSections(
  root: SourceMap,
  file: string,
  { sections, restrictions, unknownKeys }: SectionsFormat,
  findings: Finding[],
): ToolPolicy | undefined {
  let lost: ToolPolicy | undefined;
  for (const { key, line } of root.entries) {
    if (sections.includes(key)) continue;
    const near = didYouMean(key, sections);
    const isTypo = near !== undefined && restrictions.includes(near) && child(root, near) === undefined;
    const isLoss = isTypo || (unknownKeys === 'warning' && looksRestrictive(key));
    if (isLoss) lost = denyEverything({ file, line });
    const severity = isLoss ? 'error' : unknownKeys;
    const consequence = isLoss ? ` ${nothingAllowed}` : '';
    findings.push({
      severity,
      line,
      field: key,
      message: `The key ${quote(key)} is unknown${severity === 'warning' ? ' and ignored' : ''}.${consequence}`,
      fix: near === undefined ? `Known keys are ${sections.join(', ')}.` : `Did you mean "${near}"?`,
    });
  }
  return lost;
}

export function mustBeMap(root: SourceMap, key: string, consequence?: string): Finding {
  return {
    severity: 'error',
    line: entryOf(root, key)?.line,
    field: key,
    message: `"${key}" must be a map.${consequence === undefined ? '' : ` ${consequence}`}`,
    fix: `Write a name and a ":" for each entry under ${key}:.`,
  };
}
