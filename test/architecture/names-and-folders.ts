import { posix } from 'node:path';
import type { SourceFile } from './source-file.ts';
import { maxFolderFiles } from './table.ts';

/** Names that more than one file of src/ declares and exports; whoever searches for one must find one thing. */
export function namesDeclaredTwice(files: readonly SourceFile[]): readonly string[] {
  const homes = new Map<string, string[]>();
  for (const { path, text } of files) {
    for (const [, name = ''] of text.matchAll(declaration)) homes.set(name, [...(homes.get(name) ?? []), path]);
  }
  return [...homes].filter(([, paths]) => paths.length > 1).map(([name, paths]) => `${name}: ${paths.join(', ')}`);
}

const declaration =
  /^export (?:abstract |async )?(?:class|const|enum|function\*?|interface|let|type) ([A-Za-z_$][\w$]*)/gm;

/** File names that occur in more than one folder of src/. Only `index.ts` may. */
export function fileNamesUsedTwice(paths: readonly string[]): readonly string[] {
  const byName = new Map<string, string[]>();
  for (const path of paths) {
    const name = posix.basename(path);
    if (name !== 'index.ts') byName.set(name, [...(byName.get(name) ?? []), path]);
  }
  return [...byName].filter(([, same]) => same.length > 1).map(([name, same]) => `${name}: ${same.join(', ')}`);
}

/** Folders with more files than a newcomer can take in. */
export function crowdedFolders(paths: readonly string[]): readonly string[] {
  const counts = new Map<string, number>();
  for (const path of paths) {
    const folder = posix.dirname(path);
    counts.set(folder, (counts.get(folder) ?? 0) + 1);
  }
  const crowded = [...counts].filter(([, count]) => count > maxFolderFiles);
  return crowded.map(([folder, count]) => `${folder} holds ${count} files, at most ${maxFolderFiles}`);
}
