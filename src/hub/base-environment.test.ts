import { expect, test } from 'vitest';
import { verifies } from '../../test/support/verifies.ts';
import { baseEnvironment } from './base-environment.ts';

test(verifies('children:environment', "only what is known to be harmless passes from the hub's environment"), () => {
  const env = {
    PATH: '/usr/bin',
    HOME: '/home/x',
    LANG: 'C.UTF-8',
    GITHUB_TOKEN: 'secret',
    AWS_SECRET_ACCESS_KEY: 'secret',
    NODE_OPTIONS: '--require /tmp/x.js',
    LD_PRELOAD: '/tmp/x.so',
    TERM: undefined,
  };
  expect(baseEnvironment(env)).toEqual({ PATH: '/usr/bin', HOME: '/home/x', LANG: 'C.UTF-8' });
});

test('a shell function in disguise does not pass', () => {
  expect(baseEnvironment({ TERM: '() { :; }; echo pwned', TZ: 'UTC' })).toEqual({ TZ: 'UTC' });
});
