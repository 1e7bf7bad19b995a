import { spawnSync } from 'node:child_process';
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { closingLine } from './closing-line-reporter.ts';

const root = resolve(import.meta.dirname, '../..');

test('the line names skipped tests only where there are some', () => {
  expect(closingLine({ passed: 3, failed: 0, skipped: 0 })).toBe('Tests: 3 passed, 0 failed');
  expect(closingLine({ passed: 3, failed: 1, skipped: 2 })).toBe('Tests: 3 passed, 1 failed, 2 skipped');
});

test('a real run ends with the line, and files that cannot be loaded count as failed', async () => {
  const { status, lines } = await runVitest({
    'mixed.test.ts': `
      import { expect, test } from 'vitest';
      test('passes', () => expect(1).toBe(1));
      test.each([1, 2])('passes too', (n) => expect(n).toBeGreaterThan(0));
      test('fails', () => expect(1).toBe(2));
      test.skip('is skipped', () => {});`,
    'broken.test.ts': `import './missing.ts';`,
    'hook.test.ts': `
      import { afterAll, test } from 'vitest';
      test('passes', () => {});
      afterAll(() => { throw new Error('after all'); });`,
  });
  expect(lines.at(-1)).toBe('Tests: 4 passed, 3 failed, 1 skipped');
  expect(status).toBe(1);
});

test('a good run says so and exits with 0', async () => {
  const { status, lines } = await runVitest({
    'good.test.ts': `import { test } from 'vitest'; test('passes', () => {});`,
  });
  expect(lines.at(-1)).toBe('Tests: 1 passed, 0 failed');
  expect(status).toBe(0);
});

async function runVitest(files: Record<string, string>): Promise<{ status: number | null; lines: string[] }> {
  const folder = await mkdtemp(join(tmpdir(), 'qm-closing-line-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
  await writeFile(join(folder, 'vitest.config.ts'), configText());
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  const vitest = join(root, 'node_modules/vitest/vitest.mjs');
  const run = spawnSync(process.execPath, [vitest, 'run', '--root', folder], {
    cwd: folder,
    encoding: 'utf8',
    timeout: 25_000,
  });
  return { status: run.status, lines: run.stdout.trimEnd().split('\n') };
}

function configText(): string {
  const reporter = join(root, 'test/support/closing-line-reporter.ts');
  return `
    import { createClosingLineReporter } from ${JSON.stringify(reporter)};
    export default {
      test: { pool: 'forks', maxWorkers: 1, reporters: ['default', createClosingLineReporter(console.log)] },
    };`;
}
