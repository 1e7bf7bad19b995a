import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { newServerFiles } from './new-server-files.ts';

function textOf(file: string, name = 'hello', folder = 'servers/hello'): string {
  const found = newServerFiles(name, folder).find((each) => each.file === file);
  if (found === undefined) throw new Error(`no ${file}`);
  return found.text;
}

test('the package has the versions that are tested here', async () => {
  const ours = JSON.parse(await readFile(new URL('../../package.json', import.meta.url), 'utf8'));
  const all = { ...ours.dependencies, ...ours.devDependencies };
  const { dependencies, devDependencies, name, private: isPrivate } = JSON.parse(textOf('package.json'));
  expect([name, isPrivate]).toEqual(['hello', true]);
  for (const [dependency, version] of Object.entries({ ...dependencies, ...devDependencies })) {
    expect([dependency, version]).toEqual([dependency, all[dependency]]);
  }
});

test('name and folder stand everywhere, as they are', () => {
  const files = newServerFiles('hello', "tools/$&/$'x");
  expect(files.map(({ file }) => file)).toEqual([
    'package.json',
    'server.mjs',
    'server.test.mjs',
    'README.md',
    '.gitignore',
  ]);
  for (const { text } of files) expect(text).not.toContain('{{');
  expect(textOf('server.mjs')).toContain("new McpServer({ name: 'hello'");
  expect(files.find(({ file }) => file === 'README.md')?.text).toContain("node tools/$&/$'x/server.mjs");
});
