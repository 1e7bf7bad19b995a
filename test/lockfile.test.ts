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

test('lock files name no host to fetch packages from', () => {
  for (const path of locks) {
    const hosts = Object.values(readLock(path).packages).filter(({ resolved }) => resolved?.includes('://'));
    expect(hosts, `${path}: npm needs omit-lockfile-registry-resolved=true`).toEqual([]);
  }
});

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
