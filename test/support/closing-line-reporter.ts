import type { Reporter, TestModule } from 'vitest/node';

export interface TestCounts {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

/** Ends the output with one line for people and programs. Must be the last reporter in the list. */
export function createClosingLineReporter(print: (line: string) => void): Reporter {
  return {
    onTestRunEnd(modules, unhandledErrors) {
      print(closingLine(countTests(modules, unhandledErrors.length)));
    },
  };
}

export function closingLine({ passed, failed, skipped }: TestCounts): string {
  return `Tests: ${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;
}

/**
 * Counts test cases. A file that failed outside its cases (import, hook), and an error that belongs to no case, count
 * as one failed case each, so a failed run never reports "0 failed".
 */
function countTests(modules: readonly TestModule[], unhandledErrors: number): TestCounts {
  const counts = { passed: 0, failed: unhandledErrors, skipped: 0 };
  for (const module of modules) {
    let failedHere = 0;
    for (const testCase of module.children.allTests()) {
      const { state } = testCase.result();
      if (state === 'passed') counts.passed += 1;
      else if (state === 'skipped') counts.skipped += 1;
      else failedHere += 1;
    }
    counts.failed += failedHere === 0 && !module.ok() ? 1 : failedHere;
  }
  return counts;
}
