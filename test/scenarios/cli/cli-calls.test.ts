import { appendFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { callLineSchema } from '../../../src/faces/cli/json-shapes.ts';
import { stdioServer } from '../../support/hub.ts';
import { runFileOf, writeCalls } from '../hub/ledger-lines.fixture.ts';
import { makeWorkspace, runQm, startQm } from '../qm.fixture.ts';
import { runHere } from '../run-here.fixture.ts';

async function callsIn(workspace: string, ...args: string[]): Promise<string[]> {
  const { code, stdout, stderr } = await runHere(['calls', '--json', ...args], { cwd: workspace });
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  const lines = stdout.split('\n').filter((line) => line !== '');
  return lines.map((line) => callLineSchema.parse(JSON.parse(line)).call_id);
}

test('calls are filtered by any combination of run, agent, server, status, outcome and age', async () => {
  const workspace = await makeWorkspace({ servers: {} });
  const ago = (minutes: number): string => new Date(Date.now() - minutes * 60_000).toISOString();
  writeCalls(
    workspace,
    'one',
    { ts: ago(200) },
    { ts: ago(100), agent: 'lead', server: 'git' },
    { ts: ago(50), outcome: 'denied' },
    { ts: ago(10), outcome: 'timeout', server: 'git' },
  );
  writeCalls(workspace, 'two', { ts: ago(70) }, { ts: ago(5), server: null, outcome: 'unknown_tool' });
  expect(await callsIn(workspace)).toEqual(['one-0', 'one-1', 'two-0', 'one-2', 'one-3', 'two-1']);
  expect(await callsIn(workspace, '--run', 'two')).toEqual(['two-0', 'two-1']);
  expect(await callsIn(workspace, '--agent', 'lead')).toEqual(['one-1']);
  expect(await callsIn(workspace, '--server', 'git')).toEqual(['one-1', 'one-3']);
  expect(await callsIn(workspace, '--status', 'error')).toEqual(['one-2', 'one-3', 'two-1']);
  expect(await callsIn(workspace, '--status', 'open')).toEqual([]);
  expect(await callsIn(workspace, '--outcome', 'denied')).toEqual(['one-2']);
  expect(await callsIn(workspace, '--since', '1h')).toEqual(['one-2', 'one-3', 'two-1']);
  expect(await callsIn(workspace, '--since', '1h', '--status', 'error', '--server', 'git')).toEqual(['one-3']);
  expect(await callsIn(workspace, '--limit', '2')).toEqual(['one-3', 'two-1']);
  // The last two matches, not the matches among the last two.
  expect(await callsIn(workspace, '--status', 'ok', '--limit', '2')).toEqual(['one-1', 'two-0']);
});

test('a line is printed as written: large integers are preserved', async () => {
  const workspace = await makeWorkspace({ servers: {} });
  writeCalls(workspace, 'one', { args: { n: 0 } });
  const { stdout: plain } = await runHere(['calls', '--json'], { cwd: workspace });
  const exact = plain.replace('{"n":0}', '{"n":12345678901234567890,"x":1.0}').replace('one-0', 'one-9');
  appendFileSync(runFileOf(workspace, 'one'), exact);
  expect((await runHere(['calls', '--json'], { cwd: workspace })).stdout).toBe(plain + exact);
});

test.each([
  [['--since', 'yesterday'], /"yesterday" is not a length of time\. Write --since .*2h or 7d/],
  [['--since', '0m'], /not a length of time/],
  [['--limit', '-1'], /--limit/],
  [['--limit', '0'], /"0" is not a number of calls/],
  [['--status', 'fine'], /Use one of ok, error, open/],
  [['--outcome', 'bad'], /Use one of ok, tool_error/],
  [['--run', '../x'], /"\.\.\/x" cannot be a run id/],
])('%s is a usage error that says what to write', async (args, says) => {
  const workspace = await makeWorkspace({ servers: {} });
  const { code, stdout, stderr } = await runHere(['calls', ...args], { cwd: workspace });
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toMatch(says);
});

test('without calls, it suggests the next step', async () => {
  const workspace = await makeWorkspace({ servers: {} });
  const empty = await runHere(['calls'], { cwd: workspace });
  expect(empty).toMatchObject({ code: 0, stdout: '' });
  expect(empty.stderr).toMatch(/The audit log has no calls yet.*qm call SERVER\.TOOL/);
  const picky = await runHere(['calls', '--agent', 'nobody'], { cwd: workspace });
  expect(picky.stderr).toMatch(/No call in the audit log matches/);
  expect(await runHere(['calls', '--json'], { cwd: workspace })).toEqual({ code: 0, stdout: '', stderr: '' });
});

test.each([40, 80, 140])('a table fits in %s columns', async (columns) => {
  const workspace = await makeWorkspace({ servers: {} });
  const long = { tool: 'a_tool_with_quite_a_long_name_indeed', error: 'Something went wrong. '.repeat(20) };
  writeCalls(
    workspace,
    'a-run-with-a-long-name',
    {},
    { ...long, outcome: 'unknown_tool' },
    { outcome: 'ok', duration_ms: 123_456.7 },
  );
  const { stdout } = await runHere(['calls'], { cwd: workspace, columns, env: { NO_COLOR: '1' } });
  const lines = stdout.trimEnd().split('\n');
  expect(lines).toHaveLength(4);
  for (const line of lines) expect(line.length).toBeLessThanOrEqual(columns);
  for (const word of ['TOOL', 'OUTCOME', ...(columns >= 80 ? ['AGENT', 'ERROR'] : [])])
    expect(lines[0]).toContain(word);
});

test('nothing is truncated or coloured in a pipe, and outcomes are coloured on a terminal', async () => {
  const workspace = await makeWorkspace({ servers: {} });
  const error = `why ${'x'.repeat(500)}`;
  writeCalls(workspace, 'one', { outcome: 'denied', error });
  const piped = await runHere(['calls'], { cwd: workspace });
  expect(piped.stdout).toContain(error);
  expect(piped.stdout).not.toContain('\u001b');
  const shown = await runHere(['calls'], { cwd: workspace, columns: 120 });
  expect(shown.stdout).toContain('\u001b[31mdenied');
});

test("callers' text cannot move the cursor", async () => {
  const workspace = await makeWorkspace({ servers: {} });
  writeCalls(workspace, 'one', {
    server: null,
    tool: '\u001b[2Jgone\u0007',
    outcome: 'unknown_tool',
    agent: 'a\u001b[1m',
  });
  const { stdout } = await runHere(['calls'], { cwd: workspace });
  expect(stdout).toContain('␛[2Jgone');
  for (const control of ['\u0007', '\u001b']) expect(stdout).not.toContain(control);
});

test('--follow respects the filter', async () => {
  const workspace = await makeWorkspace({ servers: { echo: stdioServer('echo-stdio.mjs') } });
  const call = (agent: string, message: string) =>
    runQm(['call', 'echo.echo', `message=${message}`, '--agent', agent, '--workspace', workspace]);
  await call('tester', 'one');
  await call('lead', 'two');
  const follower = startQm(['calls', '--follow', '--json', '--agent', 'lead', '--workspace', workspace]);
  expect(JSON.parse(await follower.line())).toMatchObject({ args: { message: 'two' } });
  await call('tester', 'three');
  await call('lead', 'four');
  expect(JSON.parse(await follower.line())).toMatchObject({ args: { message: 'four' } });
  follower.signal('SIGINT');
  expect(await follower.ended()).toMatchObject({ code: 130, stderr: '' });
});

test('after a process was killed, its last calls are reported as missing and later shown as interrupted', async () => {
  const slow = new URL('../../servers/echo-stdio.mjs', import.meta.url).pathname;
  const workspace = await makeWorkspace({ servers: { echo: { command: process.execPath, args: [slow] } } });
  const doomed = startQm(['call', 'echo.slow', 'ms=60000', '--agent', 'a', '--workspace', workspace]);
  await expect
    .poll(async () => (await runHere(['calls', '--status', 'open', '--json'], { cwd: workspace })).stdout, {
      timeout: 60_000,
    })
    .toContain('"slow"');
  doomed.signal('SIGKILL');
  await doomed.ended();
  for (const command of ['calls', 'summarize'])
    expect((await runHere([command], { cwd: workspace })).stderr).toMatch(
      /ended without closing its audit log; its last calls/,
    );
  await runQm(['call', 'echo.echo', 'message=1', '--agent', 'a', '--workspace', workspace]);
  const settled = await runHere(['calls', '--outcome', 'interrupted'], { cwd: workspace });
  expect(settled.stdout).toContain('echo.slow');
  expect(settled.stderr).toBe('');
});
