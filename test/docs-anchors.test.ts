import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { listFiles } from './support/list-files.ts';

const root = resolve(import.meta.dirname, '..');
const pages = listFiles(root, ['.'], /\.md$/);
const read = (page: string): string => readFileSync(join(root, page), 'utf8').replaceAll(/^ *```.*?^ *```$/gms, '');

test('links into a page lead to one of its headings', () => {
  expect(pages.flatMap((page) => lostAnchors(page, read(page)))).toEqual([]);
  expect(lostAnchors('docs/a.md', 'see [b](cli.md#qm-serve), [c](cli.md#qm-nothing) and [d](#e)\n## E')).toEqual([
    'docs/a.md → cli.md#qm-nothing',
  ]);
});

test('a page of docs/ is in its index', () => {
  const index = read('docs/README.md');
  const listed = [...index.matchAll(/\]\(([^)#]+)\)/g)].map(([, link = '']) => `docs/${link}`);
  const wanted = pages.filter(
    (page) => /^docs\/(guides\/|builtin\/|clients\/)?[^/]+\.md$/.test(page) && page !== 'docs/README.md',
  );
  expect(wanted.filter((page) => !listed.includes(page))).toEqual([]);
});

function lostAnchors(page: string, text: string): string[] {
  return [...text.matchAll(/\]\(([^)\s#:]*)#([^)\s]+)\)/g)]
    .filter(([, file = '', anchor = '']) => {
      const target = file === '' ? page : normalize(join(dirname(page), file));
      if (file !== '' && !(target.endsWith('.md') && existsSync(join(root, target)))) return true;
      return !anchorsOf(file === '' ? text : read(target)).includes(anchor);
    })
    .map(([, file, anchor]) => `${page} → ${file}#${anchor}`);
}

/** As they are made where the repository is shown: small letters and dashes, without signs. */
function anchorsOf(text: string): string[] {
  return [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}
