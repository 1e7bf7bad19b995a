import { execFileSync } from 'node:child_process';
import { appendFileSync } from 'node:fs';
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { errorSchema, summarySchema } from '../../../src/faces/cli/json-shapes.ts';
import { stdioServer } from '../../support/hub.ts';
import { need } from '../../support/needed.ts';
import { verifies } from '../../support/verifies.ts';
import { runFileOf, writeCalls } from '../hub/ledger-lines.fixture.ts';
import { makeWorkspace, runQm, serveQm } from '../qm.fixture.ts';
import { runHere } from '../run-here.fixture.ts';

const team = {
  servers: { echo: stdioServer('echo-stdio.mjs') },
  agents: { tester: { servers: ['echo'] } },
  policies: { tools: { 'echo.add': 'require-approval' } },
  approvals: { wait: '0s' },
};

test(verifies('ledger:statistics', 'real calls are counted, with or without a running hub'), async () => {
  const workspace = await makeWorkspace(team);
  const call = (...args: string[]) =>
    runQm(['call', ...args, '--agent', 'tester', '--run', 'r1', '--workspace', workspace]);
  await call('echo.echo', 'message=../../etc/passwd');
  await call('echo.fail');
  await call('echo.add', 'a=1', 'b=2');
  const alone = await runQm(['summarize', '--json', '--workspace', workspace]);
  expect(alone).toMatchObject({ code: 0, stderr: '' });
  const { mcp_stats } = summarySchema.parse(JSON.parse(alone.stdout));
  expect(mcp_stats).toMatchObject({
    total_calls: 3,
    total_errors: 1,
    error_rate: 0.333,
    calls_by_server: { echo: 3 },
    outcomes: { ok: 1, tool_error: 1, pending: 1 },
    privileged_operations: { 'echo.add': 1 },
    runs: 1,
    unreadable_lines: 0,
  });
  expect(Object.keys(mcp_stats.latency_by_tool).sort()).toEqual(['echo.echo', 'echo.fail']);
  expect(mcp_stats.suspicious_paths).toMatchObject([{ run_id: 'r1', at: '.args.message', why: 'parent' }]);

  const hub = await serveQm(workspace);
  await call('echo.echo', 'message=x');
  const beside = await runQm(['summarize', '--run', 'r1', '--json', '--workspace', workspace]);
  expect(summarySchema.parse(JSON.parse(beside.stdout)).mcp_stats.total_calls).toBe(4);
  hub.signal('SIGTERM');
  expect((await hub.ended()).code).toBe(0);
});

test('the text output shows counts, latency and anomalies in few lines', async () => {
  const workspace = await makeTeam();
  const { code, stdout, stderr } = await runHere(['summarize'], { cwd: workspace });
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  const lines = stdout.trimEnd().split('\n');
  expect(lines[0]).toBe('7 calls in 2 runs, 4 errors (57.1 %)');
  // The calls are of noon UTC, which no time zone moves across midnight.
  expect(lines[1]).toMatch(/^2026-11-0[12] \d\d:\d\d:00 to \d\d:\d\d:04$/);
  expect(stdout).toMatch(/^SERVER +CALLS +ERRORS\nfiles +5 +2\nmemory +1 +1\n\(no such tool\) +1 +1$/m);
  expect(stdout).toMatch(/^TOOL +SENT +P50 MS +P95 MS +P99 MS +MAX MS\nfiles\.read_file +2 +4\.0 +8\.0 +8\.0 +8\.0$/m);
  expect(stdout).toContain('outcomes     ok 3, denied 1, throttled 1, tool_error 1, unknown_tool 1');
  expect(stdout).toContain('agents       tester 6, lead 1');
  expect(stdout).toContain('rate limits  memory 1');
  expect(stdout).toContain('privileged   files.write_file 2');
  expect(stdout).toContain('suspicious   1 call with a path out of the workspace');
  expect(stdout).toContain('files.write_file by tester: .args.path is "../x" (call one-2)');
  expect(stdout).toContain('unreadable   2 lines');
});

test.each([40, 80, 140])('no line is wider than %s columns', async (columns) => {
  const workspace = await makeTeam();
  const { stdout } = await runHere(['summarize'], { cwd: workspace, columns, env: { NO_COLOR: '1' } });
  expect(stdout).not.toContain('\u001b');
  for (const line of stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(columns);
});

test('a long list is truncated, with a note', async () => {
  const workspace = await makeWorkspace({ servers: {} });
  const many = Array.from({ length: 30 }, (_, n) => ({
    server: `server-${n}`,
    agent: `agent-${n}`,
    args: { path: '/etc' },
  }));
  writeCalls(workspace, 'one', ...many);
  const { stdout } = await runHere(['summarize'], { cwd: workspace });
  expect(stdout).toContain('and 20 more servers; --json has all');
  expect(stdout).toContain('and 20 more tools; --json has all');
  expect(stdout).toMatch(/agents .*, 20 more$/m);
  expect(stdout).toContain('…; --json has more');
  expect(stdout.split('\n').length).toBeLessThan(40);
});

test('--output writes the whole object, readable only by its owner, and prints the path', async () => {
  const workspace = await makeTeam();
  const file = join(workspace, 'summary.json');
  await writeFile(file, 'an old one', { mode: 0o644 });
  const { code, stdout, stderr } = await runHere(['summarize', '--output', 'summary.json'], { cwd: workspace });
  expect({ code, stdout, stderr }).toEqual({
    code: 0,
    stdout: '',
    stderr: `The statistics of 7 calls are in ${file}.\n`,
  });
  const written = await readFile(file, 'utf8');
  expect(summarySchema.parse(JSON.parse(written)).mcp_stats.total_calls).toBe(7);
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect((await readdir(workspace)).filter((name) => name.includes('tmp'))).toEqual([]);
  // With both options, stdout carries the object and nothing else.
  const both = await runHere(['summarize', '--output', 'summary.json', '--json'], { cwd: workspace });
  expect(JSON.parse(both.stdout)).toEqual(JSON.parse(written));
  need('jq');
  const shown = execFileSync('sh', ['-c', `cat summary.json | jq '.mcp_stats'`], { cwd: workspace, encoding: 'utf8' });
  expect(JSON.parse(shown)).toMatchObject({ total_calls: 7, total_errors: 4, error_rate: 0.571 });
});

test('jq finds a suspicious value at the reported place', async () => {
  const workspace = await makeWorkspace({ servers: {} });
  writeCalls(workspace, 'one', { args: { 'odd "key"': [{ inner: '~/.ssh' }] } });
  const { stdout } = await runHere(['summarize', '--json'], { cwd: workspace });
  const [found] = summarySchema.parse(JSON.parse(stdout)).mcp_stats.suspicious_paths;
  expect(found?.at).toBe('.args["odd \\"key\\""][0].inner');
  need('jq');
  const value = execFileSync('jq', ['-r', found?.at ?? '', runFileOf(workspace, 'one')], { encoding: 'utf8' });
  expect(value).toBe('~/.ssh\n');
});

test.each([
  ['a folder', '.', /is not a file\. Name a file/],
  ['a folder that is not there', 'nowhere/summary.json', /its folder does not exist\. Make .*nowhere first/],
  ['something behind a file', 'quartermaster.yaml/summary.json', /its folder does not exist/],
  ['a device', '/dev/null', /is not a file\. Name a file, or use --json/],
])('--output into %s is refused before anything is written', async (_name, output, says) => {
  const workspace = await makeTeam();
  const before = await readdir(workspace);
  const { code, stdout, stderr } = await runHere(['summarize', '--output', output], { cwd: workspace });
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toMatch(says);
  expect(await readdir(workspace)).toEqual(before);
  const json = await runHere(['summarize', '--output', output, '--json'], { cwd: workspace });
  expect(errorSchema.parse(JSON.parse(json.stderr)).error.code).toBe('USAGE');
});

test('without calls, it suggests the next step, and the JSON output is still complete', async () => {
  const workspace = await makeWorkspace({ servers: {} });
  const empty = await runHere(['summarize'], { cwd: workspace });
  expect(empty).toMatchObject({ code: 0, stdout: '' });
  expect(empty.stderr).toMatch(/The audit log has no calls yet.*qm call SERVER\.TOOL --agent NAME/);
  const run = await runHere(['summarize', '--run', 'gone'], { cwd: workspace });
  expect(run.stderr).toMatch(/The audit log has no calls of run gone.*`qm calls` shows/);
  const json = await runHere(['summarize', '--json'], { cwd: workspace });
  expect(summarySchema.parse(JSON.parse(json.stdout)).mcp_stats).toMatchObject({
    total_calls: 0,
    error_rate: 0,
    first_ts: null,
  });
  expect((await runHere(['summarize', '--run', 'a b'], { cwd: workspace })).code).toBe(2);
  await mkdir(join(workspace, '.runs/agents/others'), { recursive: true });
  await writeFile(runFileOf(workspace, 'others'), 'not ours\n');
  expect((await runHere(['summarize'], { cwd: workspace })).stderr).toContain('1 line under .runs/agents');
});

async function makeTeam(): Promise<string> {
  const workspace = await makeWorkspace({ servers: {} });
  writeCalls(
    workspace,
    'one',
    { duration_ms: 4 },
    { duration_ms: 8 },
    { tool: 'write_file', args: { path: '../x' }, outcome: 'denied' },
    { tool: 'write_file', outcome: 'tool_error' },
    { tool: 'list', duration_ms: 2 },
  );
  writeCalls(
    workspace,
    'two',
    { server: 'memory', outcome: 'throttled', agent: 'lead' },
    { server: null, tool: 'nothing', outcome: 'unknown_tool' },
  );
  appendFileSync(runFileOf(workspace, 'two'), 'not ours\n{"torn');
  return workspace;
}
