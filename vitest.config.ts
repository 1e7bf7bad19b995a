import { defineConfig } from 'vitest/config';
import { createClosingLineReporter } from './test/support/closing-line-reporter.ts';

/** Files that replace a module, or count what one does from its loading on: they need a process of their own. */
const isolated = ['src/upstream/children/gate-order.test.ts', 'test/linear-work/functions.test.ts'];
const excluded = ['**/node_modules/**', 'test/programs/**'];

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
    ],
    testTimeout: 60_000,
    hookTimeout: 120_000,
    pool: 'forks',
  },
});
