import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { fixturePath, startHttpFixture } from '../support/fixture-servers.ts';
import { programModule, programPath, run } from '../support/programs.ts';

const patient = { timeout: 90_000 };

test('a program gets a home of its own that goes with it', patient, async () => {
  const script = 'console.log(JSON.stringify({ home: process.env.HOME, ...process.versions }))';
  const { code, stdout } = await run('node24', ['-e', script], { env: { EXTRA: '1' } });
  const seen = JSON.parse(stdout);
  expect(code).toBe(0);
  expect(seen.node).toMatch(/^24\./);
  expect(seen.home).not.toBe(process.env.HOME);
  expect(existsSync(seen.home)).toBe(false);
});

test('input, both outputs and the exit code come through', patient, async () => {
  const script = 'process.stdin.on("data", (d) => process.stderr.write(d)); process.exitCode = 7';
  expect(await run('node24', ['-e', script], { input: 'ping' })).toEqual({ code: 7, stdout: '', stderr: 'ping' });
});

test('a program that does not end is ended, with what it started', patient, async () => {
  const script = `const { spawn } = require("node:child_process");
    const child = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"]);
    console.log(child.pid); setInterval(() => {}, 1000)`;
  const error = await run('node24', ['-e', script], { timeoutMs: 1500 }).then(
    () => undefined,
    (reason: Error) => reason,
  );
  expect(error?.message).toMatch(/did not end within 1500 ms/);
  const pid = Number(/\n(\d+)\n/.exec(error?.message ?? '')?.[1]);
  expect(isRunning(pid)).toBe(false);
});

test('a package that is not there names the fix', () => {
  expect(() => programModule('no-such-package')).toThrow(/run npm ci --prefix test\/programs/);
});

test('the inspector calls a tool over stdio', patient, async () => {
  const server = [process.execPath, fixturePath('echo-stdio.mjs')];
  const args = [...server, '--method', 'tools/call', '--tool-name', 'echo', '--tool-arg', 'message=hi'];
  const { code, stdout } = await run('inspectorCli', args, { timeoutMs: 60_000 });
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ content: [{ type: 'text', text: 'hi' }] });
});

test('mcporter calls a tool over HTTP', patient, async () => {
  await withEcho(async (url) => {
    const args = ['call', `${url}.echo`, 'message=hi', '--allow-http', '--output', 'json'];
    const { code, stdout } = await run('mcporter', args, { timeoutMs: 60_000 });
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ content: [{ type: 'text', text: 'hi' }] });
  });
});

test('mcp-remote makes a stdio server of an HTTP one', patient, async () => {
  await withEcho(async (url) => {
    const remote = [programPath('node24'), programPath('mcpRemote'), url, '--allow-http'];
    const args = [...remote, '--method', 'tools/call', '--tool-name', 'echo', '--tool-arg', 'message=hi'];
    const { code, stdout } = await run('inspectorCli', args, { timeoutMs: 60_000 });
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ content: [{ type: 'text', text: 'hi' }] });
  });
});

test('a client of the first SDK line can be imported and speaks to the fixtures', patient, async () => {
  const { Client } = await import(programModule('@modelcontextprotocol/sdk/client/index.js'));
  const transports = await import(programModule('@modelcontextprotocol/sdk/client/streamableHttp.js'));
  await withEcho(async (url) => {
    const client = new Client({ name: 'first-line', version: '1.0.0' });
    await client.connect(new transports.StreamableHTTPClientTransport(new URL(url)));
    const answer = await client.callTool({ name: 'echo', arguments: { message: 'hi' } });
    expect(answer).toMatchObject({ content: [{ type: 'text', text: 'hi' }] });
    await client.close();
  });
});

async function withEcho(check: (url: string) => Promise<void>): Promise<void> {
  const fixture = await startHttpFixture('echo-http.mjs', ['--era', 'legacy', '--sessions']);
  try {
    await check(fixture.url);
  } finally {
    await fixture.stop();
  }
}

/** A process that ended may stand in the table until somebody collects it. */
function isRunning(pid: number): boolean {
  try {
    return !/^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}
