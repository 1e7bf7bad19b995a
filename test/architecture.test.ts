import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  checkClassSize,
  checkConsole,
  checkExportedNames,
  checkExports,
  checkFileName,
  checkFileSize,
  checkFunctionSize,
  checkHubInside,
  checkMachine,
  checkModuleState,
  checkProcess,
  machineUses,
  staleLargeClasses,
  staleLongFunctions,
} from './architecture/code-rules.ts';
import {
  checkDispatch,
  checkLazyPackages,
  checkPackages,
  checkRoomEdges,
  type Finding,
  findCycle,
  isTestCode,
  roomGraph,
} from './architecture/import-rules.ts';
import { crowdedFolders, fileNamesUsedTwice, namesDeclaredTwice } from './architecture/names-and-folders.ts';
import { parseSource, type SourceFile } from './architecture/source-file.ts';
import { machineAllowances, rooms } from './architecture/table.ts';
import { listFiles } from './support/list-files.ts';

const root = resolve(import.meta.dirname, '..');
const everything = listFiles(root, ['src', 'test', 'scripts', 'bench'], /\.(m?ts|mjs)$/);
const product = everything
  .filter((path) => path.startsWith('src/') && path.endsWith('.ts') && !isTestCode(path))
  .map((path) => parseSource(path, readFileSync(join(root, path), 'utf8')));

interface Rule {
  readonly name: string;
  readonly check: (file: SourceFile) => Finding[];
  /** A file, its text, and what the rule says of it; proves that the rule can fail. */
  readonly broken: readonly (readonly [path: string, text: string, message: RegExp])[];
  readonly fine: readonly (readonly [path: string, text: string])[];
}

const long = (lines: number): string => `export function f(): void {\n${'  f();\n'.repeat(lines - 2)}}\n`;

const rules: readonly Rule[] = [
  {
    name: 'rooms import only along the table, through an index',
    check: checkRoomEdges,
    broken: [
      ['src/ledger/a.ts', `import { x } from '../vault/index.ts';`, /ledger may not import vault/],
      ['src/ledger/a.ts', `import type { X } from '../vault/index.ts';`, /ledger may not import vault/],
      ['src/ledger/a.ts', `export { x } from '../vault/index.ts';`, /ledger may not import vault/],
      ['src/ledger/a.ts', `const load = () => import('../vault/index.ts');`, /ledger may not import vault/],
      ['src/ledger/a.ts', `type X = import('../vault/index.ts').X;`, /ledger may not import vault/],
      ['src/base/a.ts', `import { x } from '../domain/index.ts';`, /base may not import domain/],
      ['src/calls/a.ts', `import { x } from '../hub/index.ts';`, /calls may not import hub/],
      ['src/faces/api/a.ts', `import { x } from '../../ledger/index.ts';`, /faces\/api may not import ledger/],
      ['src/faces/api/a.ts', `import { x } from '../../calls/index.ts';`, /only types of calls/],
      ['src/faces/api/a.ts', `import { x } from '../cli/index.ts';`, /may not import faces\/cli/],
      ['src/storage/a.ts', `import { type X, y } from '../ledger/index.ts';`, /only types of ledger/],
      ['src/calls/a.ts', `import { x } from '../ledger/journal.ts';`, /not a room's index/],
      ['src/calls/a.ts', `import * as ledger from '../ledger/index.ts';`, /name what you import/],
      ['src/calls/a.ts', `import { x } from '../../test/support/x.ts';`, /outside src/],
      ['src/calls/a.ts', `import { x } from './configuration.fixture.ts';`, /test code/],
      ['src/misc/a.ts', `export const a = 1;`, /room misc is not in the table/],
    ],
    fine: [
      ['src/calls/deep/a.ts', `import { x } from '../../ledger/index.ts';`],
      ['src/ledger/a.ts', `import { x } from './journal.ts';\nimport { y } from '../domain/index.ts';`],
      ['src/storage/a.ts', `import { type X } from '../ledger/index.ts';`],
      ['src/faces/api/a.ts', `import type { X } from '../../calls/index.ts';`],
      ['src/faces/cli/a.ts', `import { x } from '../mcp-http/index.ts';`],
    ],
  },
  {
    name: 'packages are imported only where the table says',
    check: checkPackages,
    broken: [
      ['src/ledger/a.ts', `import { request } from 'undici';`, /ledger may not import undici/],
      ['src/hub/a.ts', `import type { Dispatcher } from 'undici';`, /hub may not import undici/],
      ['src/faces/mcp-http/a.ts', `import { Hono } from 'hono/tiny';`, /may not import hono/],
      ['src/mcp/a.ts', `import { z } from 'zod';`, /mcp may not import zod/],
      ['src/upstream/a.ts', `import { Client } from '@modelcontextprotocol/client';`, /client is not in the table/],
    ],
    fine: [
      ['src/upstream/a.ts', `import { request } from 'undici';\nimport { readFile } from 'node:fs/promises';`],
      ['src/config/a.ts', `import { z } from 'zod';`],
    ],
  },
  {
    name: 'only calls act on an upstream for a caller',
    check: checkDispatch,
    broken: [
      ['src/faces/api/a.ts', `import { type Dispatch } from '../../upstream/index.ts';`, /only calls act/],
      ['src/faces/cli/a.ts', `import { createDispatcher as x } from '../../upstream/index.ts';`, /only calls act/],
    ],
    fine: [['src/calls/a.ts', `import type { Dispatch } from '../upstream/index.ts';`]],
  },
  {
    name: 'environment, arguments and exit belong to the command line',
    check: checkProcess,
    broken: [
      ['src/config/a.ts', `const home = process.env.HOME;`, /config may not touch process\.env/],
      ['src/config/a.ts', `const home = process['env'];`, /process\.env/],
      ['src/config/a.ts', `const { env } = process;`, /process\.env/],
      ['src/config/a.ts', `const home = globalThis.process.env;`, /process\.env/],
      ['src/hub/a.ts', `process.exit(1);`, /process\.exit/],
      ['src/faces/library/a.ts', `const args = process.argv;`, /process\.argv/],
      ['src/hub/a.ts', `import { env } from 'node:process';`, /use the global process/],
    ],
    fine: [
      ['src/faces/cli/a.ts', `process.exit(process.argv.length);`],
      ['src/faces/library/a.ts', `const env = process.env;`],
      ['src/upstream/a.ts', `process.kill(spec.env, deps.argv);`],
    ],
  },
  {
    name: 'nothing but the command line writes to the console',
    check: checkConsole,
    broken: [['src/hub/a.ts', `console.log('hi');`, /Logger/]],
    fine: [['src/faces/cli/a.ts', `console.log('hi');`]],
  },
  {
    name: 'time and randomness come in as dependencies',
    check: checkMachine,
    broken: [
      ['src/ledger/a.ts', `const t = Date.now();`, /Date\.now/],
      ['src/ledger/a.ts', `const now = Date.now;`, /Date\.now/],
      ['src/ledger/a.ts', `const t = new Date();`, /new Date/],
      ['src/ledger/a.ts', `const r = Math.random();`, /Math\.random/],
      ['src/ledger/a.ts', `setTimeout(() => {}, 1);`, /setTimeout/],
      ['src/ledger/a.ts', `const deps = { timer: setInterval };`, /setInterval/],
      ['src/ledger/a.ts', `globalThis.setTimeout(run, 1);`, /setTimeout/],
      ['src/ledger/a.ts', `import { setTimeout as wait } from 'node:timers/promises';`, /setTimeout/],
      ['src/ledger/a.ts', `import { randomUUID } from 'node:crypto';`, /randomUUID/],
      ['src/ledger/a.ts', `const signal = AbortSignal.timeout(5);`, /AbortSignal\.timeout/],
      ['src/base/clock.ts', `const r = Math.random();`, /Math\.random/],
    ],
    fine: [
      ['src/ledger/a.ts', `import { setImmediate } from 'node:timers/promises';`],
      ['src/ledger/a.ts', `setImmediate(flush); clock.setTimeout(1); const t = new Date(clock.now());`],
      ['src/base/clock.ts', `const t = Date.now();`],
    ],
  },
  {
    name: 'exports are named, one by one',
    check: checkExports,
    broken: [
      ['src/hub/a.ts', `export default 1;`, /default/],
      ['src/hub/a.ts', `const a = 1; export { a as default };`, /default/],
      ['src/hub/a.ts', `export * from './b.ts';`, /export \*/],
      ['src/hub/a.ts', `export * as b from './b.ts';`, /export \*/],
    ],
    fine: [['src/hub/a.ts', `export const a = 1; export { b, type C } from './b.ts';`]],
  },
  {
    name: 'modules hold no state',
    check: checkModuleState,
    broken: [
      ['src/hub/a.ts', `let count = 0;`, /factory/],
      ['src/hub/a.ts', `export let count = 0;`, /factory/],
      ['src/hub/a.ts', `const cache = new Map<string, number>();`, /factory/],
      ['src/hub/a.ts', `const queue: string[] = [];`, /factory/],
    ],
    fine: [['src/hub/a.ts', `const known = new Set(['a']);\nfunction f() { let a = 1; const b = new Map(); }`]],
  },
  {
    name: 'functions stay readable',
    check: checkFunctionSize,
    broken: [
      ['src/hub/a.ts', long(61), /61 lines/],
      ['src/hub/a.ts', `export const f = () => {\n${'g();\n'.repeat(60)}};`, /62 lines/],
      ['src/hub/a.ts', `class A {\n  m() {\n${'g();\n'.repeat(60)}  }\n}`, /62 lines/],
      ['src/hub/a.ts', `function outer() {\n${long(61).slice(7)}}`, /a function of 61 lines/],
      ['src/hub/a.ts', `function createX() {\n${long(40).slice(7)}${long(40).slice(7)}}`, /a function of 82 lines/],
    ],
    fine: [['src/hub/a.ts', long(60)]],
  },
  {
    name: 'interfaces do not look inside the hub',
    check: checkHubInside,
    broken: [
      ['src/faces/mcp/a.ts', `const view = hub.views.of(chain);`, /may not look into views/],
      ['src/faces/mcp/a.ts', `const text = ({ views }: Hub) => views.of([]);`, /may not look into views/],
      ['src/faces/api/a.ts', `const { views: all } = hub;`, /may not look into views/],
      ['src/faces/api/a.ts', `const tools = hub.viewOf(caller).entries;`, /may not look into views/],
      ['src/faces/mcp/a.ts', `import type { View } from '../../calls/index.ts';`, /may not look into views \(View\)/],
      ['src/faces/library/a.ts', `const tool = view.findTool(name);`, /also finds what is denied/],
      ['src/faces/cli/a.ts', `const { views: all } = hub;`, /may not look into views/],
      ['src/faces/library/a.ts', `const look = ({ viewOf }: Hub) => viewOf(caller);`, /may not look into views/],
    ],
    fine: [
      ['src/hub/a.ts', `const view = project.views.of(chain);`],
      ['src/faces/mcp/a.ts', `const text = hub.lists.text(caller, list, options);`],
      ['src/faces/library/a.ts', `import type { AgentToolEntry } from '../../calls/index.ts';`],
    ],
  },
  {
    name: 'classes stay readable',
    check: checkClassSize,
    broken: [['src/hub/a.ts', `class A {\n${'  m() {}\n'.repeat(46)}}`, /A has 46 members, at most 45/]],
    fine: [['src/hub/a.ts', `class A {\n${'  m() {}\n'.repeat(45)}}`]],
  },
  {
    name: 'exported names say what they are',
    check: checkExportedNames,
    broken: [
      ['src/hub/a.ts', `export class SessionManager {}`, /manager/],
      ['src/hub/a.ts', `export { a as stringUtils } from './a.ts';`, /utils/],
      ['src/hub/a.ts', `export interface CommonOptions {}`, /common/],
    ],
    fine: [['src/hub/a.ts', `export const commonality = 1; const helper = 2;`]],
  },
];

describe.each(rules)('$name', ({ check, broken, fine }) => {
  test('throughout src', () => {
    expect(report(product.flatMap(check))).toEqual([]);
  });

  test('and it notices', () => {
    for (const [path, text, message] of broken) {
      expect(report(check(parseSource(path, text))).join('\n'), text).toMatch(message);
    }
    for (const [path, text] of fine) expect(report(check(parseSource(path, text))), text).toEqual([]);
  });
});

test('files are named in kebab-case, without words that say nothing', () => {
  expect(report(everything.flatMap((path) => checkFileName({ path })))).toEqual([]);
  for (const path of ['src/hub/startHub.ts', 'src/hub/path-utils.ts', 'src/common/a.ts', 'test/Servers/a.test.ts']) {
    expect(checkFileName({ path }), path).toHaveLength(1);
  }
  expect(checkFileName({ path: 'src/faces/mcp-http/run-call.test.ts' })).toEqual([]);
});

test('files stay below the ceiling', () => {
  const sizes = everything.map((path) => ({
    path,
    lines: readFileSync(join(root, path), 'utf8').split('\n').length - 1,
  }));
  expect(report(sizes.flatMap(checkFileSize))).toEqual([]);
  expect(checkFileSize({ path: 'src/hub/a.ts', lines: 401 })).toHaveLength(1);
  expect(checkFileSize({ path: 'src/hub/a.ts', lines: 400 })).toEqual([]);
});

test('no exported name is declared twice', () => {
  expect(namesDeclaredTwice(product)).toEqual([]);
  const both = ['src/hub/a.ts', 'src/calls/b.ts'].map((path) => parseSource(path, 'export interface Twice {}\n'));
  expect(namesDeclaredTwice(both)).toEqual(['Twice: src/hub/a.ts, src/calls/b.ts']);
});

test('every file name is unique in src, index.ts aside', () => {
  expect(fileNamesUsedTwice(product.map(({ path }) => path))).toEqual([]);
  const paths = ['src/hub/a.ts', 'src/calls/a.ts', 'src/hub/index.ts', 'src/calls/index.ts'];
  expect(fileNamesUsedTwice(paths)).toEqual(['a.ts: src/hub/a.ts, src/calls/a.ts']);
});

test('a folder holds at most 25 files of the product, and asks for sub-folders beyond', () => {
  expect(crowdedFolders(product.map(({ path }) => path))).toEqual([]);
  const many = Array.from({ length: 26 }, (_, index) => `src/hub/f${index}.ts`);
  expect(crowdedFolders(many)).toEqual(['src/hub holds 26 files, at most 25']);
});

test('no room reaches itself through others', () => {
  expect(findCycle(roomGraph(product))).toBeUndefined();
  const a = parseSource('src/hub/a.ts', `import type { X } from '../calls/index.ts';`);
  const b = parseSource('src/calls/b.ts', `import { x } from '../hub/index.ts';`);
  expect(findCycle(roomGraph([a, b]))).toEqual(['hub', 'calls', 'hub']);
});

test('the table itself allows no cycle', () => {
  const expand = (names: readonly string[], self: string): Set<string> =>
    new Set(
      Object.keys(rooms).filter(
        (room) => room !== self && (names.includes(room) || names.includes(room.replace(/\/.*/, '/*'))),
      ),
    );
  const graph = new Map(
    Object.entries(rooms).map(([room, { imports, types = [] }]) => [room, expand([...imports, ...types], room)]),
  );
  expect(findCycle(graph)).toBeUndefined();
});

test('entry points load heavy packages only when they need them', () => {
  expect(report(checkLazyPackages(product))).toEqual([]);
  const entry = parseSource('src/index.ts', `export { createHub } from './hub/index.ts';`);
  const eager = parseSource('src/hub/index.ts', `import { request } from 'undici';`);
  const lazy = parseSource('src/hub/index.ts', `const load = () => import('undici');`);
  expect(checkLazyPackages([entry, eager])).toHaveLength(1);
  expect(checkLazyPackages([entry, lazy])).toEqual([]);
});

test('every allowance for a long function is still needed, to the line', () => {
  expect(staleLongFunctions(product)).toEqual([]);
  const path = 'src/hub/a.ts';
  const entry = { file: path, lines: 70, why: '' };
  expect(staleLongFunctions([parseSource(path, long(70))], [entry])).toEqual([]);
  expect(staleLongFunctions([parseSource(path, long(69))], [entry])).toEqual([`${path} needs 69 lines, not 70`]);
  expect(staleLongFunctions([parseSource(path, long(60))], [entry])).toEqual([`${path} has no function over 60 lines`]);
  expect(staleLongFunctions([], [entry])).toEqual([`${path} does not exist`]);
});

test('every allowance for a large class is still needed', () => {
  expect(staleLargeClasses(product)).toEqual([]);
  const smaller = parseSource('src/ledger/a.ts', `class JournalLedger {\n${'  m() {}\n'.repeat(45)}}`);
  expect(staleLargeClasses([smaller])).toEqual(['JournalLedger has 45 members']);
});

test('every allowance for time and randomness is still needed', () => {
  for (const { file, uses } of machineAllowances) {
    const source = product.find(({ path }) => path === file);
    expect(source ? [...new Set(machineUses(source).map(({ name }) => name))].sort() : [], file).toEqual(
      [...uses].sort(),
    );
  }
});

function report(findings: readonly Finding[]): string[] {
  return findings.map(({ file, line, message }) => `${file}:${line} ${message}`);
}
