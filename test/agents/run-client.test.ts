import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { isAlive } from '../../src/upstream/children/fixtures/processes.mjs';
import { eventually } from '../support/within.ts';
import { judge, type Scenario } from './first-contact.mjs';
import { runProgram } from './run-client.mjs';

const waits = 'setInterval(() => {}, 1000)';
const never = new AbortController().signal;

/** Starts a process that outlives it, writes its id into a file, then does the rest. */
function withChild(file: string, rest: string): string[] {
  const script = `
    const { spawn } = require('node:child_process');
    const child = spawn(process.execPath, ['-e', ${JSON.stringify(waits)}], { stdio: 'ignore' });
    require('node:fs').writeFileSync(${JSON.stringify(file)}, child.pid + '\\n');
    ${rest}`;
  return ['-e', script];
}

test('an agent that ends leaves nothing of its process group', async () => {
  const file = await pidFile();
  const ended = await runProgram([process.execPath], withChild(file, 'process.exit(3)'), {}, never);
  expect(ended).toMatchObject({ code: 3, isLate: false });
  await gone(await pidIn(file));
});

test('an agent that does not end is ended at the deadline, with what it started', async () => {
  const file = await pidFile();
  const deadline = new AbortController();
  const running = runProgram([process.execPath], withChild(file, waits), {}, deadline.signal);
  const pid = await pidIn(file);
  deadline.abort();
  expect(await running).toMatchObject({ code: null, isLate: true });
  await gone(pid);
});

test('a program that is not there is an error', async () => {
  await expect(runProgram(['/nowhere/agent'], [], {}, never)).rejects.toMatchObject({ code: 'ENOENT' });
});

const scenario: Scenario = { name: 'two quick, one late', servers: {}, quick: ['quick1_echo', 'quick2_echo'] };
const run = { code: 0, isLate: false, output: '', ms: 1234 };
const quick = ['hub_quick1_echo', 'hub_quick2_echo'];
const all = [...quick, 'hub_late_echo'];

test('what was there at once and what came later is judged by the turns', () => {
  const turns = [
    { atMs: 900, tools: quick, results: [] },
    { atMs: 4000, tools: all, results: ['quick2_echo'] },
    { atMs: 4100, tools: all, results: ['quick2_echo', 'late_echo'] },
  ];
  expect(judge(scenario, { ...run, turns })).toEqual({
    first: '2 of 2 quick',
    late: 'turn 2, 4.0 s',
    answered: 'yes',
    seconds: 1.2,
    problems: [],
  });
});

test('an agent that saw nothing, got no answer or did not end has a problem', () => {
  const problems = (turns: { tools: string[]; results: string[] }[], end = {}) =>
    judge(scenario, { ...run, ...end, turns: turns.map((turn) => ({ atMs: 1, ...turn })) }).problems;
  expect(problems([{ tools: ['hub_quick2_echo'], results: [] }])).toEqual([
    'not offered at the first turn: quick1_echo',
    'quick2_echo was not answered',
    'late_echo was never offered',
  ]);
  expect(problems([{ tools: all, results: ['quick2_echo', 'UPSTREAM_UNAVAILABLE'] }])).toEqual([
    'late_echo was not answered',
  ]);
  expect(problems([], { isLate: true })[0]).toContain('ended with the deadline');
  expect(problems([], { code: 1, output: 'no key' })[0]).toContain('ended with 1: no key');
});

test('a client that does not wait, or never lists again, is judged by what it can get', () => {
  const turns = [
    { atMs: 1, tools: [], results: [] },
    { atMs: 2, tools: quick, results: ['quick2_echo'] },
  ];
  expect(judge(scenario, { ...run, turns }, { takesFirstTurnWithout: true, listsAgain: false }).problems).toEqual([]);
  const never = [{ atMs: 1, tools: [], results: [] }];
  expect(
    judge(scenario, { ...run, turns: never }, { takesFirstTurnWithout: true, listsAgain: false }).problems,
  ).toEqual(['quick2_echo was not answered']);
  const alone = { ...scenario, quick: [] };
  expect(judge(alone, { ...run, turns: never }, { listsAgain: false }).problems).toEqual([
    'late_echo was never offered',
  ]);
});

async function pidFile(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'qm-run-client-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  return join(folder, 'pid');
}

function pidIn(file: string): Promise<number> {
  return eventually(async () => {
    const text = await readFile(file, 'utf8').catch(() => '');
    return text.endsWith('\n') ? Number(text) : undefined;
  }, 'the id of the process');
}

async function gone(pid: number): Promise<void> {
  await eventually(() => (isAlive(pid) ? undefined : true), `process ${pid} to end`);
}
