import type { ToolPolicy } from '../domain/index.ts';
import { repeated } from './check-node.ts';
import { didYouMean } from './did-you-mean.ts';
import { type Finding, quote } from './problems.ts';
import { denyEverything } from './read-policy.ts';
import { looksRestrictive } from './restriction-words.ts';
import { child, entryOf, type SourceMap } from './source-tree.ts';

/** The keys at the top of a file that holds restrictions. */
export interface SectionsFormat {
  readonly sections: readonly string[];
  /** Those that keep something from agents. */
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

/** Reports unknown keys; where one looks like lost restrictions, answers what to put in their place. */
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
      message: `The key ${quote(key)} is unknown${severity === 'warning' ? ' and not read' : ''}.${consequence}`,
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
