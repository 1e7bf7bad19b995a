import { expect, test } from 'vitest';
import { hubEnvironment, nodeOptionsOutside } from './hub-environment.ts';

const workspace = '/home/me/team';

test.each([
  ['--require ./x.cjs', ''],
  ['--max-old-space-size=512 -r ./x.cjs --no-warnings', '--max-old-space-size=512 --no-warnings'],
  ['--require=/home/me/team/x.cjs --import=tsx --loader ts-node/esm', ''],
  ['--import file:///home/me/team/x.mjs --env-file=.env', ''],
  ['--require "./a b.cjs" --no-warnings', '--no-warnings'],
  ['--require "/opt/a b.cjs" --import file:///opt/x.mjs', '--require "/opt/a b.cjs" --import file:///opt/x.mjs'],
  ['--require', ''],
  ['--import=data:text/javascript,1 --require "./a\\"b.cjs"', '--import=data:text/javascript,1'],
])('of NODE_OPTIONS %s, the hub gets %j', (given, kept) => {
  expect(hubEnvironment({ NODE_OPTIONS: given, A: 'b' }, workspace)).toEqual(
    kept === '' ? { A: 'b' } : { A: 'b', NODE_OPTIONS: kept },
  );
});

test('folders with modules are kept if they are outside the workspace', () => {
  expect(hubEnvironment({ NODE_PATH: `.:/opt/modules:${workspace}/node_modules:` }, workspace)).toEqual({
    NODE_PATH: '/opt/modules',
  });
  expect(hubEnvironment({ NODE_PATH: 'x', PATH: '.' }, workspace)).toEqual({ PATH: '.' });
});

test('the options of this process are passed on likewise', () => {
  expect(nodeOptionsOutside(['--import', './x.mjs', '--expose-gc', '/opt/qm/bin/qm'], workspace)).toEqual([
    '--expose-gc',
    '/opt/qm/bin/qm',
  ]);
});
