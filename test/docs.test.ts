import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { errorTable } from '../src/base/index.ts';
import { renderErrorsPage } from './support/errors-page.ts';
import { listFiles } from './support/list-files.ts';

const root = resolve(import.meta.dirname, '..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const pages = listFiles(root, ['.'], /\.md$/);

test('docs/errors.md is the table of errors', async () => {
  await expect(renderErrorsPage(errorTable), 'out of date: run `npm run docs:errors`').toMatchFileSnapshot(
    '../docs/errors.md',
  );
});

test('every error has an exit code that the page explains, and its own numbers stay out of the reserved range', () => {
  for (const [code, { exit, jsonRpc }] of Object.entries(errorTable)) {
    expect([1, 2, 3, 4, 5, 6, 130], code).toContain(exit);
    const own = jsonRpc < -32768 || jsonRpc > -32000;
    const ofTheProtocol = [-32700, -32600, -32601, -32602, -32603, -32020, -32021, -32022].includes(jsonRpc);
    expect(own || ofTheProtocol, code).toBe(true);
  }
});

test('codes that pages name have the numbers of the table', () => {
  expect(pages.flatMap((page) => wrongCodes(page, read(page)))).toEqual([]);
  expect(wrongCodes('a.md', 'gives -31008 `OVERLOADED` or -1 `CANCELLED`')).toEqual(['a.md: -1 `CANCELLED`']);
});

test('links between pages lead somewhere', () => {
  expect(pages).toContain('CONTRIBUTING.md');
  expect(pages.flatMap((page) => brokenLinks(page, read(page)))).toEqual([]);
  expect(brokenLinks('docs/a.md', 'see [b](missing.md) and [c](../CONTRIBUTING.md#rules)')).toEqual([
    'docs/a.md → missing.md',
  ]);
});

test('commands that pages name exist', () => {
  const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
  expect(pages.flatMap((page) => unknownCommands(page, read(page), scripts))).toEqual([]);
  expect(unknownCommands('a.md', 'run `npm run nothing` or npm test', scripts)).toEqual(['a.md: npm run nothing']);
});

test('a decision is one page: context, decision, why, consequences', () => {
  const decisions = pages.filter((page) => /^docs\/decisions\/\d{4}-/.test(page));
  expect(decisions.map((page) => Number(page.slice(15, 19)))).toEqual(decisions.map((_, index) => index + 1));
  for (const page of decisions) {
    const text = read(page);
    const headings = [...text.matchAll(/^## (.+)$/gm)].map((match) => match[1]);
    expect(headings, page).toEqual(['Context', 'Decision', 'Why', 'Consequences']);
    expect(text.split('\n').length, page).toBeLessThanOrEqual(60);
  }
});

test('continuous integration runs what the README says', () => {
  const command = 'npm ci && npm test';
  expect(read('.ci/run').trimEnd().split('\n').at(-1)).toBe(command);
  expect(read('README.md')).toContain(command);
});

test('README.md starts the hub with a script that a test runs', () => {
  const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
  const [, name = ''] = /^npm ci && npm (?!test)(\w+)$/m.exec(read('README.md')) ?? [];
  expect(scripts[name]).toBe('node scripts/start.mjs');
  expect(read('test/scenarios/cli/cli-start.test.ts')).toContain(`'scripts', 'start.mjs'`);
});

function brokenLinks(page: string, text: string): string[] {
  return [...text.matchAll(/\]\(([^)\s]+)\)/g)]
    .map((match) => match[1] ?? '')
    .filter((link) => !/^([a-z]+:|#)/.test(link))
    .filter((link) => !existsSync(join(root, dirname(page), link.replace(/#.*/, ''))))
    .map((link) => `${page} → ${link}`);
}

function wrongCodes(page: string, text: string): string[] {
  const table: Readonly<Record<string, { readonly jsonRpc: number }>> = errorTable;
  return [...text.matchAll(/(-\d+) `([A-Z]+_?[A-Z_]+)`/g)]
    .filter((match) => table[match[2] ?? '']?.jsonRpc !== Number(match[1]))
    .map((match) => `${page}: ${match[0]}`);
}

function unknownCommands(page: string, text: string, scripts: Record<string, string>): string[] {
  return [...text.matchAll(/npm run ([a-z:-]+)/g)]
    .filter((match) => !Object.hasOwn(scripts, match[1] ?? ''))
    .map((match) => `${page}: ${match[0]}`);
}
