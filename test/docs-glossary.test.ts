import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { listFiles } from './support/list-files.ts';

const root = resolve(import.meta.dirname, '..');
const glossary = 'docs/glossary.md';
const read = (page: string): string => readFileSync(join(root, page), 'utf8');
const rows = [...read(glossary).matchAll(/^\| (.+?) \| (.+?) \| (.*?) ?\|$/gm)]
  .map(([, words = '', means = '', not = '']) => ({ words: split(words), means, not: split(not) }))
  .slice(1);
const words = rows.flatMap((row) => row.words);
const pages = ['README.md', 'ARCHITECTURE.md', 'SECURITY.md', 'CONTRIBUTING.md', ...listFiles(root, ['docs'], /\.md$/)]
  .filter((page) => page !== glossary)
  .map((page) => [page, prose(read(page))] as const);

/** Words that have a meaning of their own besides, so that a page may use them. */
const alsoOthers = ['user', 'client', 'session', 'request', 'version', 'call', 'task', 'log'];

test('a word stands there once, with one meaning', () => {
  expect(rows.length).toBeGreaterThan(20);
  expect(words).toEqual([...new Set(words)]);
  expect(rows.filter(({ means }) => !/^[a-z].*[^.]$/.test(means)).map((row) => row.words)).toEqual([]);
  expect(rows.flatMap(({ not }) => not).filter((word) => words.includes(word) && !alsoOthers.includes(word))).toEqual(
    [],
  );
});

test('no other page says what a word means', () => {
  expect(pages.flatMap(([page, text]) => definitionsIn(page, text))).toEqual([]);
  expect(definitionsIn('a.md', 'Good. A view is what one\nagent has. A view is read.')).toEqual([
    'a.md: A view is what',
  ]);
  expect(definitionsIn('a.md', '| word | means |')).toEqual(['a.md: | word | means']);
});

test('no page uses a word in the place of ours', () => {
  expect(pages.flatMap(([page, text]) => othersIn(page, text))).toEqual([]);
  expect(othersIn('a.md', 'two backends, one backend-dev, audit logs')).toEqual(['a.md: backends', 'a.md: audit logs']);
});

test('the pages that lead people to the others lead to it', () => {
  for (const page of ['README.md', 'ARCHITECTURE.md', 'docs/README.md']) expect(read(page)).toContain('glossary.md)');
});

function definitionsIn(page: string, text: string): string[] {
  const is = new RegExp(
    `(?<=^|[.:] |\\n)An? (?:${words.join('|')}) is (?:an?|one|what|everything|something|the)\\b`,
    'g',
  );
  const table = /^\| word \| means/gm;
  return [...text.matchAll(is), ...text.matchAll(table)].map(([found]) => `${page}: ${found}`);
}

function othersIn(page: string, text: string): string[] {
  // Decisions also speak of other people's things.
  if (page.startsWith('docs/decisions/')) return [];
  const others = rows.flatMap(({ not }) => not).filter((word) => !alsoOthers.includes(word));
  const used = new RegExp(`(?<![\\w-])(?:${others.join('|')})s?(?![\\w-])`, 'gi');
  return [...text.matchAll(used)].map(([found]) => `${page}: ${found}`);
}

/** Without code, whose words may be somebody else's. */
function prose(page: string): string {
  return page.replaceAll(/^ *```.*?^ *```$/gms, '').replaceAll(/`[^`]*`/g, '``');
}

function split(cell: string): string[] {
  return cell.split(',').flatMap((word) => (word.trim() === '' ? [] : [word.trim()]));
}
