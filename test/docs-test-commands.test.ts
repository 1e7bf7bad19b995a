import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { isNode, parseSource, walk } from './architecture/source-file.ts';
import { listFiles } from './support/list-files.ts';

const root = resolve(import.meta.dirname, '..');
const script = readFileSync(join(root, 'scripts/test-mcp.mjs'), 'utf8');
const folders = [...script.matchAll(/^ {2}'([a-z/-]+)',/gm)].map(([, folder = '']) => folder);
const tests = listFiles(root, ['src', 'test'], /\.test\.ts$/).filter((path) => !path.startsWith('test/programs/'));

test('no test is disabled or alone', () => {
  expect(tests.length).toBeGreaterThan(200);
  expect(tests.flatMap((path) => switchesIn(path, readFileSync(join(root, path), 'utf8')))).toEqual([]);
  const text = `test.each([1])('a', f);\ntest.skip('b', f);\ndescribe.only('c', f);\ntest('d', (t) => t.skip());`;
  expect(switchesIn('a.test.ts', text)).toEqual(['a.test.ts:2 skip', 'a.test.ts:3 only', 'a.test.ts:4 skip']);
});

test('npm run test:mcp runs all of MCP, one file after the other, and filters nothing but by folder', () => {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { scripts: object };
  expect(scripts).toHaveProperty('test:mcp', 'node scripts/test-mcp.mjs');
  const flags = [...script.matchAll(/'(-[^']*)'/g)].map(([, flag]) => flag);
  expect(flags).toEqual(['--no-file-parallelism', '--maxWorkers=1']);
  expect(script).not.toMatch(/process\.(argv|env)/);
  for (const folder of folders)
    expect(
      tests.some((path) => path.startsWith(folder)),
      folder,
    ).toBe(true);
  const speaking = /^(src\/(mcp|upstream|calls|hub|apps)\/|src\/faces\/(mcp|gateway)|test\/(scenarios|servers)\/)/;
  const missed = tests.filter((path) => speaking.test(path) && !folders.some((folder) => path.startsWith(folder)));
  expect(missed).toEqual([]);
});

function switchesIn(path: string, text: string): string[] {
  const file = parseSource(path, text);
  const found: string[] = [];
  walk(file.program, (node) => {
    const callee = node.type === 'CallExpression' && isNode(node.callee) ? node.callee : undefined;
    const name = callee?.type === 'MemberExpression' && isNode(callee.property) ? String(callee.property.name) : '';
    const ofTests = callee !== undefined && /^(test|it|describe|t|ctx|context)\b/.test(text.slice(callee.start));
    if (ofTests && /^(skip|only|todo|skipIf|runIf|fails)$/.test(name)) {
      found.push(`${path}:${file.lineOf(node.start)} ${name}`);
    }
  });
  return found;
}
