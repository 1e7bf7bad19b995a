import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { listFiles } from './support/list-files.ts';
import { fieldWords, plainWords, withoutHeadNoun } from './support/type-names.ts';

const root = resolve(import.meta.dirname, '..');
const glossary = 'docs/glossary.md';
const read = (page: string): string => readFileSync(join(root, page), 'utf8');
const rows = [...read(glossary).matchAll(/^\| (.+?) \| (.+?) \| (.*?) ?\| (.*?) ?\|$/gm)]
  .map(([, words = '', means = '', code = '', not = '']) => ({
    words: split(words),
    means,
    types: split(code.replaceAll('`', '')),
    not: split(not),
  }))
  .slice(1);
const words = rows.flatMap((row) => row.words);
const pages = ['README.md', 'ARCHITECTURE.md', 'SECURITY.md', 'CONTRIBUTING.md', ...listFiles(root, ['docs'], /\.md$/)]
  .filter((page) => page !== glossary)
  .map((page) => [page, prose(read(page))] as const);

const product = listFiles(root, ['src'], /(?<!\.(?:test|fixture))\.ts$/);
const allTypes = new Set(product.flatMap((path) => exportedTypes(read(path))));

/** Words that have a meaning of their own besides, so that a page may use them. */
const alsoOthers = ['user', 'client', 'session', 'request', 'version', 'call', 'task', 'log'];
/** Ordinary English in prose; only in the names of code would they be private words for something of the protocol. */
const onlyInCode = ['link', 'away', 'wire', 'question', 'watch', 'unseen', 'seat', 'lane', 'peer'];
/** Names in which such a word means what everybody means by it: a symbolic link, a watched file, a git blame. */
const ordinaryUse =
  /^(refuseLinks|ConfigWatch|WatchConfigOptions|watchConfig|.*Watchdog|watchdog.*|.*CollectorWatch|explainQuestion)$/;

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
  expect(othersIn('a.md', 'two backends, one backend-dev, config objects')).toEqual([
    'a.md: backends',
    'a.md: config objects',
  ]);
});

test('the types that carry a word exist, and the vocabulary covers all of them', () => {
  const listed = rows.flatMap(({ types }) => types);
  expect(listed.filter((type) => !allTypes.has(type))).toEqual([]);
  const domain = product.filter((path) => path.startsWith('src/domain/')).flatMap((path) => exportedTypes(read(path)));
  expect(domain.length).toBeGreaterThan(30);
  expect(domain.filter((type) => !listed.includes(type))).toEqual([]);
});

test('the head noun of each type that a room exports is known', () => {
  const exported = product
    .filter((path) => path.endsWith('/index.ts') && path !== 'src/index.ts')
    .flatMap((path) => typesNamedIn(read(path)));
  expect(exported.length).toBeGreaterThan(300);
  const heads = exported.flatMap((type) => {
    const isKnown = withoutHeadNoun.includes(type) || rows.some(({ types }) => types.includes(type));
    return isKnown ? [] : [{ type, noun: headNoun(type) }];
  });
  const glossaryNouns = words.map((word) => word.split(/[ -]/).at(-1) ?? '');
  const known = new Set([...fieldWords, ...plainWords, ...glossaryNouns]);
  // An unknown noun is a private word: use the word of the field, or give it an entry in the glossary.
  expect(heads.filter(({ noun }) => !known.has(noun))).toEqual([]);
  const used = new Set(heads.map(({ noun }) => noun));
  expect([...fieldWords, ...plainWords].filter((word) => !used.has(word) || glossaryNouns.includes(word))).toEqual([]);
  expect(withoutHeadNoun.filter((type) => !exported.includes(type))).toEqual([]);
  expect(['TokenBook', 'UpstreamFleets', 'ServerAccess', 'MCPServerError'].map(headNoun)).toEqual([
    'book',
    'fleet',
    'access',
    'error',
  ]);
});

test('a verdict is the result of a probe', () => {
  const probes = ['ProbeVerdict', 'verdictLooks', 'verdictText'];
  const others = ['ToolVerdict', 'sayVerdict'];
  const names = product.flatMap((path) => exportedNames(read(path))).filter((name) => /verdict/i.test(name));
  expect(names.filter((name) => !probes.includes(name) && !others.includes(name))).toEqual([]);
});

test('no exported name uses a word in the place of ours', () => {
  const names = product.flatMap((path) => exportedNames(read(path)));
  expect(names.length).toBeGreaterThan(1000);
  expect(names.filter((name) => usesOthers(name))).toEqual([]);
  expect(['createFleet', 'LinkOptions', 'unlinkAll', 'refuseLinks'].filter(usesOthers)).toEqual([
    'createFleet',
    'LinkOptions',
  ]);
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
  const passed = [...alsoOthers, ...onlyInCode];
  const others = rows.flatMap(({ not }) => not).filter((word) => !passed.includes(word));
  const used = new RegExp(`(?<![\\w-])(?:${others.join('|')})s?(?![\\w-])`, 'gi');
  return [...text.matchAll(used)].map(([found]) => `${page}: ${found}`);
}

function exportedTypes(text: string): string[] {
  return [...text.matchAll(/^export (?:abstract )?(?:class|interface|type) (\w+)/gm)].map(([, name = '']) => name);
}

/** The types among the names in an index, which says `type X` or exports a class. */
function typesNamedIn(index: string): string[] {
  return [...index.matchAll(/\b[A-Z]\w*[a-z]\w*\b/g)].map(([name]) => name).filter((name) => allTypes.has(name));
}

/** The last word in the singular. */
function headNoun(type: string): string {
  const last = (/(?:[A-Z]+|[A-Z][a-z0-9]+)$/.exec(type)?.[0] ?? type).toLowerCase();
  return last.replace(/(?<=[^isu])s$|(?<=uri)s$/, '').replace(/^children$/, 'child');
}

function exportedNames(text: string): string[] {
  const declared = /^export (?:abstract |async )?(?:class|const|function\*?|interface|type) (\w+)/gm;
  return [...text.matchAll(declared)].map(([, name = '']) => name);
}

function usesOthers(name: string): boolean {
  if (ordinaryUse.test(name)) return false;
  const parts = name
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(' ');
  const others = rows.flatMap(({ not }) => not).filter((word) => !alsoOthers.includes(word) && !word.includes(' '));
  return others.some((word) => parts.includes(word) || parts.includes(`${word}s`));
}

/** Without code, whose words may be somebody else's. */
function prose(page: string): string {
  return page.replaceAll(/^ *```.*?^ *```$/gms, '').replaceAll(/`[^`]*`/g, '``');
}

function split(cell: string): string[] {
  return cell.split(',').flatMap((word) => (word.trim() === '' ? [] : [word.trim()]));
}
