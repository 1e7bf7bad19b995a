import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { verifies } from '../../../../test/support/verifies.ts';
import { ToolFault } from '../../serving/index.ts';
import type { BuiltinServer } from '../builtin-kind.ts';
import { callTool, createWorkshop, everythingIn, openGit } from './git.fixture.ts';
import { plant, plants, secret } from './planted.fixture.ts';

/** What somebody may try: each gets a fault or an answer, and neither does or tells anything that it should not. */
interface Attempt {
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly gives: 'fault' | 'answer';
  /** A part of what is said. */
  readonly says?: string;
}

// The file's own shape, which the tests of each entry would not survive being wrong.
const attempts = JSON.parse(readFileSync(join(import.meta.dirname, 'fixtures/attempts.json'), 'utf8')) as Attempt[];

const workshop = createWorkshop();
const outside = join(workshop.dir, 'planted-outside');
const tmp = join(workshop.dir, 'tmp');
const cookie = `attempts-of-${process.pid}`;
let server: BuiltinServer;
let root: string;
let mark: string;
let before: readonly string[];

beforeAll(async () => {
  mkdirSync(tmp);
  ({ root, mark } = plant(workshop, 'planted', plants));
  before = everything();
  const hostile = {
    GIT_EXTERNAL_DIFF: join(outside, 'trap'),
    GIT_DIR: join(outside, 'module/.git'),
    GIT_WORK_TREE: outside,
    GIT_ALTERNATE_OBJECT_DIRECTORIES: join(outside, 'module/.git/objects'),
    GIT_TRACE: mark,
    GIT_CONFIG_PARAMETERS: `'core.fsmonitor'='${join(outside, 'trap')}'`,
    HOME: outside,
    TMPDIR: tmp,
    QUARTERMASTER_CHILD: cookie,
  };
  server = await openGit(root, { env: hostile });
});

afterAll(async () => {
  await server.close();
  workshop.remove();
});

test('there are many of them, and each tool is tried', () => {
  expect(attempts.length).toBeGreaterThanOrEqual(100);
  expect(new Set(attempts.map(({ tool }) => tool)).size).toBe(6);
});

describe('what somebody may try', () => {
  test.each(attempts.map((attempt, index) => ({ ...attempt, label: label(attempt), index })))(
    verifies('builtin:git-confined', '$index $tool $label'),
    async ({ tool, args, gives, says }) => {
      const result = await attemptIt(tool, fill(args));
      expect(result.said, 'what lies outside is not told').not.toContain(secret);
      expect(result.gives, result.said).toBe(gives);
      if (says !== undefined) expect(result.said).toContain(says);
      expect(result.said.length, 'it does not repeat what is far too long').toBeLessThan(10_000);
      expect(existsSync(mark), 'nothing ran and nothing was written').toBe(false);
      expect(readdirSync(tmp)).toEqual([]);
      expect(everything()).toEqual(before);
      expect(processesWith(cookie)).toEqual([]);
    },
  );
});

function everything(): readonly string[] {
  return [...everythingIn(root), ...everythingIn(outside)];
}

async function attemptIt(
  tool: string,
  args: Readonly<Record<string, unknown>>,
): Promise<{ gives: string; said: string }> {
  try {
    const { text, structured } = await callTool(server, tool, args);
    return { gives: 'answer', said: `${text}\n${JSON.stringify(structured)}` };
  } catch (error) {
    if (!(error instanceof ToolFault)) throw error;
    return { gives: 'fault', said: error.message };
  }
}

function fill(args: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const full = (value: unknown): unknown =>
    typeof value === 'string'
      ? value
          .replace('{outside}', outside)
          .replace('{mark}', mark)
          .replace('{trap}', join(outside, 'trap'))
          .replace('{megabyte}', 'x'.repeat(1_048_576))
      : value;
  return Object.fromEntries(Object.entries(args).map(([key, value]) => [key, full(value)]));
}

function label({ args }: Attempt): string {
  return JSON.stringify(args);
}

/** Processes whose environment has the word, by pid; git carries the hub's cookie for exactly this. */
function processesWith(word: string): readonly string[] {
  return readdirSync('/proc').filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/environ`, 'utf8').includes(word);
    } catch {
      // It has ended, or belongs to somebody else.
      return false;
    }
  });
}
