import { existsSync, readFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { listFiles } from './support/list-files.ts';

const root = resolve(import.meta.dirname, '..');
const page = readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8');
const sources = listFiles(root, ['src'], /\.ts$/);
const fileNames = new Set(sources.map((path) => basename(path)));

test('every path that ARCHITECTURE.md names exists', () => {
  const paths = pathsIn(page);
  expect(paths.length).toBeGreaterThan(40);
  expect(paths.filter((path) => !isThere(path))).toEqual([]);
  expect(pathsIn('`calls/gone.ts`, `gone.ts`, `/api/events`, `ui://`, `dist/qm/` and `npm run x`')).toEqual([
    'calls/gone.ts',
    'gone.ts',
  ]);
  expect(['calls/gone.ts', 'gone.ts', 'run-call.ts', 'calls/path/'].filter(isThere)).toEqual([
    'run-call.ts',
    'calls/path/',
  ]);
});

test('the table of modules has every module', () => {
  const modules = sources
    .filter((path) => /^src\/((apps|faces)\/)?[^/]+\/index\.ts$/.test(path))
    .map((path) => path.slice('src/'.length, -'/index.ts'.length));
  expect(modules.length).toBeGreaterThan(20);
  expect(modules.filter((name) => !modulesIn(page).has(name))).toEqual([]);
});

/** In backticks, with a slash or the ending of a file. What is built, and what is of HTTP or MCP, is none. */
function pathsIn(text: string): string[] {
  const quoted = [...text.replaceAll(/^```.*?^```$/gms, '').matchAll(/`([^`\s]+)`/g)].map(([, name = '']) => name);
  return quoted.filter(
    (name) =>
      /^[\w-][\w.-]*(\/[\w.-]+)*\/?$/.test(name) && /\/|\.(ts|md|json)$/.test(name) && !name.startsWith('dist/'),
  );
}

/** From the root, from `src/`, or as the name of one file in `src/`. */
function isThere(path: string): boolean {
  return existsSync(join(root, path)) || existsSync(join(root, 'src', path)) || fileNames.has(path);
}

/** The first column names modules; the row `faces` lists its own in the second. */
function modulesIn(text: string): Set<string> {
  const rows = [...text.matchAll(/^\| (`[^|]+`) \| ([^|]+) \|/gm)].map(([, first = '', second = '']) => [
    namesIn(first),
    namesIn(second),
  ]);
  return new Set(
    rows.flatMap(([first = [], second = []]) =>
      first.includes('faces') ? second.map((name) => `faces/${name}`) : first,
    ),
  );
}

function namesIn(cell: string): string[] {
  return [...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name);
}
