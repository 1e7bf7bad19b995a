import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { builtinNames } from '../src/domain/index.ts';
import { verifies } from './support/verifies.ts';

const root = resolve(import.meta.dirname, '..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const rows = read('docs/guides/verified-servers.md')
  .split('\n')
  .filter((line) => line.startsWith('| '))
  .slice(1)
  .map((line) => {
    const [server = '', version = '', transports = '', , by = ''] = line.slice(2, -2).split(' | ');
    return { server, name: /`(.+)`/.exec(server)?.[1] ?? '', version, transports, by: by.replaceAll('`', '') };
  });
const versions = versionsIn('package.json', 'test/programs/package.json');

test(verifies('docs:verified', 'a server is listed with the version that is installed'), () => {
  expect(rows.length).toBeGreaterThan(8);
  for (const { server, name, version } of rows) {
    expect([server, version]).toEqual([server, server.startsWith('built-in') ? 'as the hub' : versions[name]]);
  }
});

test('the test that is named exists and runs that server', () => {
  for (const { server, name, by } of rows) {
    expect(existsSync(join(root, by)), by).toBe(true);
    const ofAnSdk = /everything\.mjs|new-server|@modelcontextprotocol\/sdk/;
    const runs = server.startsWith('on ') ? ofAnSdk : new RegExp(name.replace(/^.*\//, ''));
    expect(runs.test(`${by} ${read(by)}`), `${by} runs ${server}`).toBe(true);
  }
});

test('every server that is installed for tests, and every built-in one, is listed', () => {
  const installed = Object.keys(versions).filter((name) => name.startsWith('@modelcontextprotocol/server-'));
  const names = rows.map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining([...installed, ...builtinNames]));
  for (const { transports } of rows) {
    for (const transport of transports.split(', '))
      expect(['stdio', 'http', 'sse', 'inside the hub', 'directly']).toContain(transport);
  }
});

function versionsIn(...files: string[]): Record<string, string> {
  const packages = files.map((file) => JSON.parse(read(file)) as Record<string, Record<string, string>>); // our own files
  return Object.assign({}, ...packages.flatMap((each) => [each.dependencies, each.devDependencies]));
}
