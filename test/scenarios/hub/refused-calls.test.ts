import { createHash } from 'node:crypto';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { gatewayForTest, type RunningGateway } from '../../support/gateway.ts';
import { stdioServer } from '../../support/hub.ts';
import { legacyClient, modernClient, textOf } from '../../support/mcp-clients.ts';
import { createMovingClock } from '../../support/moving-clock.ts';
import { layoutOf } from '../../support/state-home.ts';
import { verifies } from '../../support/verifies.ts';
import { eventually } from '../../support/within.ts';

/** What calls that never run leave behind. */
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

async function bytesOnDisk({ workspace }: RunningGateway): Promise<number> {
  let bytes = 0;
  for (const folder of [join(workspace, '.runs'), layoutOf(workspace).folder]) {
    const entries = await readdir(folder, { recursive: true, withFileTypes: true });
    for (const entry of entries) if (entry.isFile()) bytes += (await stat(join(entry.parentPath, entry.name))).size;
  }
  return bytes;
}

test(verifies('ledger:cut', '50 refused calls of 1 MB each leave their beginnings, lengths and hashes'), async () => {
  const secret = 'hunter2-hunter2-hunter2';
  const gateway = await gatewayForTest(
    {
      servers: { echo: stdioServer('echo-stdio.mjs', [], { env: { KEY: '$' + '{SECRET}' } }) },
      policies: { tools: { 'echo.add': 'require-approval' } },
      approvals: { wait: '0s' },
    },
    { env: { SECRET: secret } },
  );
  const client = modernClient(gateway.url, await gateway.token());
  // The secret lies across the place where the text is cut.
  const padding = 'x'.repeat(4096 - '{"padding":"'.length - 10);
  const args = { padding: `${padding}${secret}`, more: 'y'.repeat(1024 * 1024) };
  for (let count = 0; count < 50; count++) await client.call(count % 2 === 0 ? 'nobody_has_this' : 'echo_add', args);
  const calls = await gateway.calls(50);
  expect(await bytesOnDisk(gateway)).toBeLessThan(1024 * 1024);
  const sent = JSON.stringify(args);
  const whole = sent.replace(secret, '[redacted]');
  for (const call of calls) {
    expect(call.args).toBe(whole.slice(0, 4096));
    expect([call.args_length, call.args_sha256]).toEqual([sent.length, sha256(sent)]);
  }
  const runFile = join(gateway.workspace, '.runs', 'agents', calls[0]?.run_id ?? '', 'mcp_calls.jsonl');
  expect(await readFile(runFile, 'utf8')).not.toMatch(/hunter2/);
});

test('calls that run are cut at a larger size, and small ones are whole', async () => {
  const gateway = await gatewayForTest();
  const client = modernClient(gateway.url, await gateway.token());
  const long = { message: 'z'.repeat(100_000) };
  expect(textOf((await client.call('echo', long)).message)).toBe(long.message);
  await client.call('echo', { message: 'w'.repeat(60_000) });
  const [cut, whole] = (await gateway.calls(2)).toSorted((a, b) => (b.args_length ?? 0) - (a.args_length ?? 0));
  const text = JSON.stringify(long);
  expect(cut).toMatchObject({
    args: text.slice(0, 65_536),
    args_length: text.length,
    args_sha256: sha256(text),
    status: 'ok',
  });
  expect(whole?.args).toEqual({ message: 'w'.repeat(60_000) });
  expect(whole).not.toHaveProperty('args_length');
});

test('a name that nobody has is cut too', async () => {
  const gateway = await gatewayForTest();
  const client = await legacyClient(gateway.url, await gateway.token());
  await client.call('n'.repeat(50_000));
  const [call] = await gateway.calls(1);
  expect([call?.tool, call?.outcome]).toEqual([`${'n'.repeat(1024)}…`, 'unknown_tool']);
});

test(
  verifies('ledger:refused-rate', 'what is refused too often is told once a minute, and other calls are not affected'),
  async () => {
    const clock = createMovingClock();
    const gateway = await gatewayForTest({}, { clock });
    const [mine, other] = [await gateway.token('mine'), await gateway.token('other')];
    const [greedy, modest] = [modernClient(gateway.url, mine), modernClient(gateway.url, other)];
    for (let count = 0; count < 300; count++) {
      const { message } = await greedy.call('nobody_has_this');
      expect(message.error?.data?.code).toBe('TOOL_UNKNOWN');
    }
    expect(textOf((await greedy.call('echo', { message: 'mine' })).message)).toBe('mine');
    expect((await modest.call('nobody_has_this')).message.error?.data?.code).toBe('TOOL_UNKNOWN');
    await gateway.calls(122);
    clock.advance(61_000);
    const calls = await gateway.calls(123);
    const summary = calls.find(({ tool }) => tool === 'refused calls');
    expect(summary).toMatchObject({
      server: null,
      agent: 'mine',
      outcome: 'rate_limited',
      args: { count: 180, outcomes: { unknown_tool: 180 } },
      error: expect.stringContaining('rate limit: 180 more refused calls'),
    });
    const counted = (agent: string) =>
      calls.filter((call) => call.agent === agent && call.outcome === 'unknown_tool').length;
    expect([counted('mine'), counted('other'), calls.length]).toEqual([120, 1, 123]);
    await greedy.call('nobody_has_this');
    await eventually(async () => (await gateway.calls(124)).length === 124 || undefined, 'a new minute to begin');
  },
);

test('counted refusals are recorded when the hub stops', async () => {
  const gateway = await gatewayForTest();
  const client = modernClient(gateway.url, await gateway.token());
  for (let count = 0; count < 125; count++) await client.call('nobody_has_this');
  await gateway.calls(120);
  await gateway.hub.stop();
  const calls = await gateway.calls(121);
  expect(calls.find(({ tool }) => tool === 'refused calls')?.args).toMatchObject({ count: 5 });
});

test('an agent is told neither where the journal lies nor which program is missing', async () => {
  const gateway = await gatewayForTest({ servers: { gone: { command: '/srv/private/no-such-program' } } });
  const client = await legacyClient(gateway.url, await gateway.token());
  for (let attempt = 0; attempt < 4; attempt++) {
    const { message, text } = await client.call('gone_tool');
    expect(message.error?.data?.code).toBe('UPSTREAM_UNAVAILABLE');
    expect(message.error?.message).toContain('Server "gone" cannot be started: command not found.');
    expect(text).not.toContain('/srv/private');
  }
});

test('nor is it told in which folder a built-in server looked', async () => {
  const servers = { repo: { builtin: 'git', args: ['--repository', '/srv/private/no-such-folder'] } };
  const gateway = await gatewayForTest({ servers });
  const client = await legacyClient(gateway.url, await gateway.token());
  for (let attempt = 0; attempt < 2; attempt++) {
    const { message, text } = await client.call('repo_status');
    expect(message.error?.message).toContain('Server "repo" cannot be started: the built-in server did not open.');
    expect(text).not.toContain('/srv/private');
  }
});
