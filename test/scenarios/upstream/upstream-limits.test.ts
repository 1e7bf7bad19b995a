import { expect, test } from 'vitest';
import { codeOf, openStage, stdioServer } from '../../support/hub.ts';
import { verifies } from '../../support/verifies.ts';
import { eventually } from '../../support/within.ts';

test(verifies('upstream:timeout', 'silence ends a call, progress extends it, up to a total'), async () => {
  const stage = await openStage();
  const logs = { CANCEL_LOG: stage.path('cancels.log') };
  const limits = { timeout_s: 2, max_s: 4 };
  await stage.start({
    servers: {
      old: stdioServer('echo-stdio.mjs', [], { env: logs, limits }),
      recent: { url: (await stage.fixture('echo-http.mjs', ['--era', 'modern'], logs)).url, limits },
      session: { url: (await stage.fixture('echo-http.mjs', ['--era', 'legacy', '--sessions'], logs)).url, limits },
    },
  });
  const servers = ['old', 'recent', 'session'];
  await stage.names();
  const slow = (ms: number, onProgress?: () => void) =>
    Promise.all(servers.map((server) => stage.call(`${server}_slow`, { ms }, onProgress && { onProgress })));
  const messageOf = (result: Awaited<ReturnType<typeof stage.call>>) =>
    result.kind === 'failed' ? `${result.error.code} ${result.error.message}` : result.kind;
  const [renewed, silent, capped] = await Promise.all([slow(3000, () => {}), slow(3000), slow(7000, () => {})]);
  expect(renewed.map(messageOf)).toEqual(servers.map(() => 'result'));
  expect(silent.map(messageOf)).toEqual(servers.map(() => expect.stringMatching(/^UPSTREAM_TIMEOUT .* within 2 s\.$/)));
  expect(capped.map(messageOf)).toEqual(servers.map(() => expect.stringMatching(/^UPSTREAM_TIMEOUT .* within 4 s\.$/)));
  // The servers heard of each, and stopped.
  await eventually(async () => ((await stage.lines('cancels.log')).length === 6 ? true : undefined), 'six cancels');
  const outcomes = (await stage.ledger()).map(({ outcome }) => outcome).sort();
  expect(outcomes).toEqual([...servers.map(() => 'ok'), ...Array.from({ length: 6 }, () => 'timeout')]);
  for (const server of servers) expect(stage.status(server).state).toBe('connected');
});

test(verifies('upstream:bounded', 'calls in flight are bounded for each server by itself'), async () => {
  const stage = await openStage();
  await stage.start({
    servers: {
      narrow: stdioServer('echo-stdio.mjs', [], { limits: { concurrency: 3 } }),
      wide: stdioServer('echo-stdio.mjs'),
    },
  });
  await stage.names();
  const calls = Array.from({ length: 5 }, () => stage.begin('narrow_slow', { ms: 60_000 }));
  const refused = await Promise.all(calls.slice(3).map(({ result }) => result));
  expect(refused).toMatchObject(
    [1, 2].map(() => ({ error: { code: 'OVERLOADED', message: expect.stringContaining('3 calls') } })),
  );
  expect(await stage.say('wide_echo', { message: 'not my limit' })).toBe('not my limit');
  for (const { call } of calls) call.cancel('enough');
  expect((await Promise.all(calls.slice(0, 3).map(({ result }) => result))).map(codeOf)).toEqual(
    [1, 2, 3].map(() => 'CANCELLED'),
  );
  expect(await stage.say('narrow_echo', { message: 'room again' })).toBe('room again');
  const outcomes = (await stage.ledger()).map(({ outcome }) => outcome).sort();
  expect(outcomes).toEqual(['cancelled', 'cancelled', 'cancelled', 'ok', 'ok', 'overloaded', 'overloaded']);
});

test(verifies('limits:fair', 'slow calls of one agent leave room for another agent'), async () => {
  const stage = await openStage();
  await stage.start({
    servers: { up: stdioServer('echo-stdio.mjs', [], { limits: { concurrency: 8 } }) },
    agents: { tester: {}, reviewer: {} },
  });
  await stage.names();
  const calls = Array.from({ length: 8 }, () => stage.begin('up_slow', { ms: 60_000 }));
  const refused = await Promise.all(calls.slice(4).map(({ result }) => result));
  expect(refused).toMatchObject(
    [1, 2, 3, 4].map(() => ({
      error: { code: 'OVERLOADED', message: expect.stringContaining('share of the 8 calls') },
    })),
  );
  const other = await stage.call('up_echo', { message: 'room' }, { agent: 'reviewer' });
  expect(other).toMatchObject({ kind: 'result' });
  for (const { call } of calls) call.cancel('enough');
  await Promise.all(calls.map(({ result }) => result));
});

/** A server that greets, lists, and then reads nothing any more. */
const deaf = `
  let rest = '';
  const say = (id, member) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, ...member }) + '\\n');
  process.stdin.on('data', (chunk) => {
    const lines = (rest + chunk).split('\\n');
    rest = lines.pop();
    for (const line of lines) {
      const { id, method } = JSON.parse(line);
      if (method === 'server/discover') say(id, { error: { code: -32601, message: 'no' } });
      if (method === 'initialize') say(id, { result: { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'deaf', version: '1' } } });
      if (method === 'tools/list') {
        say(id, { result: { tools: [{ name: 'take', inputSchema: { type: 'object' } }] } });
        process.stdin.pause();
      }
    }
  });
  setInterval(() => {}, 1000);`;

test('a server that stops reading gets only so much to read, and its neighbours notice nothing', async () => {
  const stage = await openStage();
  const limits = { timeout_s: 1 };
  await stage.start({
    servers: { deaf: { command: process.execPath, args: ['-e', deaf], limits }, up: stdioServer('echo-stdio.mjs') },
  });
  await stage.names();
  const argumentsText = `{"text":"${'x'.repeat(1024 * 1024)}"}`;
  const calls = Array.from({ length: 24 }, () => stage.call('deaf_take', {}, { argumentsText }));
  expect(await stage.say('up_echo', { message: 'hi' })).toBe('hi');
  const codes = (await Promise.all(calls)).map(codeOf);
  const count = (code: string): number => codes.filter((found) => found === code).length;
  expect(count('OVERLOADED')).toBeGreaterThanOrEqual(5);
  expect(count('UPSTREAM_TIMEOUT')).toBeGreaterThanOrEqual(15);
  expect(count('OVERLOADED') + count('UPSTREAM_TIMEOUT')).toBe(24);
  expect(await stage.say('up_echo', { message: 'hi' })).toBe('hi');
});
