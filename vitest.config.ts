import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { createClosingLineReporter } from './test/support/closing-line-reporter.ts';

/** Files that replace a module, or count what one does from its loading on: they need a process of their own. */
const isolated = ['src/upstream/children/gate-order.test.ts', 'test/linear-work/functions.test.ts'];
const ownFolder = join(tmpdir(), `qm-tests-${process.pid}`);
/** They need programs of a desktop, so they have a command of their own: npm run test:keychain. */
const keychain = ['test/keychain/*.test.ts'];
const excluded = ['**/node_modules/**', 'test/programs/**', ...keychain];

export default defineConfig({
  test: {
    reporters: ['default', createClosingLineReporter(console.log)],
    // Much of the time is waiting for processes, so that there is work for one more than two.
    maxWorkers: 3,
    projects: [
      {
        extends: true,
        test: {
          name: 'shared',
          include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
          exclude: [...excluded, ...isolated],
          // Loading all modules anew for each of some hundred files would take a third of the time.
          isolate: false,
        },
      },
      { extends: true, test: { name: 'isolated', include: isolated } },
      ...(process.env.KEYCHAIN === '1'
        ? [{ extends: true as const, test: { name: 'keychain', include: keychain } }]
        : []),
    ],
    // Never the state or the keychain of the person who runs the tests.
    env: {
      QM_STATE_DIR: join(ownFolder, 'state'),
      XDG_CONFIG_HOME: join(ownFolder, 'config'),
      QM_KEYCHAIN: 'off',
    },
    globalSetup: 'test/support/remove-test-state.ts',
    // Only to end what hangs: each wait has a shorter deadline of its own, and says what it waited for.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    pool: 'forks',
  },
});
