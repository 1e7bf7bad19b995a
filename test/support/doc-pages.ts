import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type DocBlock, type DocScene, readScenes } from './doc-blocks.ts';
import { listFiles } from './list-files.ts';

const root = resolve(import.meta.dirname, '..', '..');

/** The scenes of all pages for users and contributors. */
export function readPages(): DocScene[] {
  const pages = ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', ...listFiles(root, ['docs'], /\.md$/)];
  return pages.flatMap((page) => readScenes(page, readFileSync(join(root, page), 'utf8')));
}

/**
 * The scenes with something to run, by name: either those of the guides, which take as long as all others together, or
 * the others.
 */
export function scenesToPlay(
  scenes: readonly DocScene[],
  guides: boolean,
): (readonly [name: string, scene: DocScene])[] {
  return scenes
    .filter(({ page }) => page.startsWith('docs/guides/') === guides)
    .filter(({ blocks }) => blocks.some(({ kind }) => kind === 'file' || kind === 'run'))
    .map((scene) => [placeOf(scene), scene] as const);
}

export function placeOf({ page, line }: Pick<DocBlock, 'page' | 'line'>): string {
  return `${page}:${line}`;
}
