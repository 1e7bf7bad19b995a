import { dotted, type Finding, quote } from '../findings.ts';
import type { SourceEntry, SourceNode } from './source-tree.ts';

/**
 * Keys that are written twice on the way to a part that is read, or inside it. Clients take the last one and readers the
 * first, so a restriction could get lost. Of each path the first is reported.
 */
export function findRepeats(root: SourceNode, paths: readonly (readonly string[])[]): readonly Finding[] {
  const found = paths.flatMap((path) => repeatOnPath(root, path) ?? []);
  // Paths may begin with the same key.
  return [...new Map(found.map((finding) => [finding.field, finding])).values()];
}

function repeatOnPath(root: SourceNode, path: readonly string[]): Finding | undefined {
  let here: SourceNode | undefined = root;
  for (const [index, step] of path.entries()) {
    if (here?.kind !== 'map') return undefined;
    const [first, second]: readonly SourceEntry[] = here.entries.filter(({ key }) => key === step);
    if (first !== undefined && second !== undefined)
      return writtenTwice(dotted(...path.slice(0, index + 1)), first, second);
    here = first?.value;
  }
  return here === undefined ? undefined : repeatInside(here, dotted(...path));
}

function repeatInside(node: SourceNode, field: string): Finding | undefined {
  if (node.kind === 'scalar') return undefined;
  if (node.kind === 'list') return firstOf(node.items, (item, index) => repeatInside(item, dotted(field, index)));
  const seen = new Map<string, { readonly line: number }>();
  return firstOf(node.entries, (entry) => {
    const first = seen.get(entry.key);
    seen.set(entry.key, entry);
    const at = dotted(field, entry.key);
    return first === undefined ? repeatInside(entry.value, at) : writtenTwice(at, first, entry);
  });
}

function firstOf<T, R>(items: readonly T[], find: (item: T, index: number) => R | undefined): R | undefined {
  for (const [index, item] of items.entries()) {
    const found = find(item, index);
    if (found !== undefined) return found;
  }
  return undefined;
}

function writtenTwice(field: string, first: { readonly line: number }, second: { readonly line: number }): Finding {
  const message = `${quote(field)} is written twice, in line ${first.line} and in line ${second.line}.`;
  return { severity: 'error', line: second.line, field, message, fix: 'Keep one of them.' };
}
