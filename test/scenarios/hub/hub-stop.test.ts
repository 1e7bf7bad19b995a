import { writeFile } from 'node:fs/promises';
import { pathToFileURL } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { readCalls } from '../../../src/ledger/index.ts';
import { fixturePath } from '../../support/fixture-servers.ts';
import { codeOf, openStage, type Stage, stdioServer } from '../../support/hub.ts';
import { ledgerOf } from '../../support/state-home.ts';
import { verifies } from '../../support/verifies.ts';
import { eventually, within } from '../../support/within.ts';

test(verifies('hub:stop', 'calls in flight finish, new ones are refused, then everything ends'), async () => {
  const stage = await openStage();
  const url = (await stage.fixture('echo-http.mjs', ['--era', 'legacy', '--sessions'])).url;
  await stage.start({ servers: { up: stdioServer('echo-stdio.mjs'), web: { url } } });
  await stage.names();
  const running = new Set<string>();
  const calls = ['up', 'web'].map((server) =>
    stage.begin(`${server}_slow`, { ms: 1000 }, { onProgress: () => running.add(server) }),
  );
  await eventually(() => (running.size === 2 ? true : undefined), 'both calls to run');
  const { hub } = stage;
  const stopping = hub.stop();
  expect(hub.stop()).toBe(stopping);
  expect(codeOf(await stage.call('up_echo', { message: 'late' }))).toBe('HUB_STOPPING');
  const results = await Promise.all(calls.map(({ result }) => result));
  expect(results.map(({ kind }) => kind)).toEqual(['result', 'result']);
  await within(stopping, 'the hub to stop');
  expect(stage.children()).toEqual([]);
  expect(hub.callsInFlight).toBe(0);
  expect(codeOf(await stage.call('up_echo', { message: 'too late' }))).toBe('HUB_STOPPING');
  await expect(hub.stop()).resolves.toBeUndefined();
  const lines = await readCalls(ledgerOf(stage.workspace));
  expect(lines.map(({ outcome }) => outcome).sort()).toEqual(['ok', 'ok', 'unavailable']);
});

test(
  verifies('hub:interrupted', 'a call that outlasts the grace is cancelled at the server and reads interrupted'),
  async () => {
    const stage = await openStage();
    const env = { CANCEL_LOG: stage.path('cancels.log') };
    await stage.start({ servers: { up: stdioServer('echo-stdio.mjs', [], { env }) } });
    await stage.names();
    let running = false;
    const onProgress = (): void => {
      running = true;
    };
    const { result } = stage.begin('up_slow', { ms: 60_000 }, { onProgress });
    await eventually(() => (running ? true : undefined), 'the call to run');
    const stopped = stage.hub.stop();
    stage.clock.advance(11_000);
    expect(codeOf(await within(result, 'the cancel'))).toBe('INTERRUPTED');
    await within(stopped, 'the hub to stop');
    expect((await readCalls(ledgerOf(stage.workspace))).map(({ outcome }) => outcome)).toEqual(['interrupted']);
    expect(await stage.lines('cancels.log')).toMatchObject([{ tool: 'slow' }]);
  },
);

test(
  verifies('hub:unsent', 'a call that waits for a server to connect or to list its tools did not run, and reads so'),
  async () => {
    const stage = await openStage();
    const later = { command: process.execPath, args: [await silentWhileFileExists(stage)] };
    await stage.start({ servers: { later } });
    await stage.hub.discover();
    await stage.stop();
    await writeFile(stage.path('silent'), '');
    // The tools of `later` are known from the first run.
    await stage.start({ servers: { later, silent: stdioServer('bad.mjs', ['never-answers']) } });
    const unsent = ['silent_echo', 'later_echo'].map((tool) => stage.begin(tool, { message: 'hi' }));
    await eventually(() => (stage.children().length === 2 ? true : undefined), 'both handshakes to begin');
    expect(unsent.map(({ call }) => call.state)).toEqual(['received', 'received']);
    const stopped = stage.hub.stop();
    stage.clock.advance(11_000);
    const results = await within(Promise.all(unsent.map(({ result }) => result)), 'the calls to end');
    expect(results.map(codeOf)).toEqual(['HUB_STOPPING', 'HUB_STOPPING']);
    await within(stopped, 'the hub to stop');
    const error = 'The hub was shut down before the call was sent, so it did not run.';
    const line = { outcome: 'unavailable', error, transport: null };
    expect((await readCalls(ledgerOf(stage.workspace))).sort((a, b) => a.tool.localeCompare(b.tool))).toMatchObject([
      { ...line, server: 'later', tool: 'echo' },
      { ...line, server: null, tool: 'silent_echo' },
    ]);
  },
);

test('stopping waits for no server that does not answer', async () => {
  const stage = await openStage();
  const hung = await stage.fixture('bad-http.mjs', ['hang']);
  await stage.start({
    servers: {
      silent: stdioServer('bad.mjs', ['never-answers']),
      hung: { url: hung.url },
      throttled: { url: (await stage.fixture('bad-http.mjs', ['429'])).url },
      missing: { command: 'no-such-program-anywhere' },
      slow: stdioServer('bad.mjs', ['slow-start']),
      untouched: stdioServer('echo-stdio.mjs'),
    },
  });
  void stage.hub.discover(['silent', 'hung', 'throttled', 'missing', 'slow']);
  await eventually(() => (stage.children().length === 2 ? true : undefined), 'the processes to start');
  // A handshake may take half a minute.
  await within(stage.hub.stop(), 'the hub to stop', 25_000);
});

test('thousands of calls of every kind leave nothing behind', async () => {
  const stage = await openStage();
  // With others known to the hub, one agent gets half of a server: 16 calls.
  const limits = { concurrency: 32, timeout_s: 1 };
  const { url } = await stage.fixture('echo-http.mjs', ['--era', 'modern']);
  await stage.start({ servers: { up: stdioServer('echo-stdio.mjs', [], { limits }), web: { url, limits } } });
  await stage.names();
  let agents = 0;
  const wave = async (withTimeout: boolean): Promise<void> => {
    for (const server of ['up', 'web']) {
      const calls = Array.from({ length: 16 }, (_, index) => {
        if (index === 0 && withTimeout) return stage.begin(`${server}_slow`, { ms: 60_000 });
        if (index === 1) return stage.begin(`${server}_slow`, { ms: 60_000 }, { onProgress: () => {} });
        if (index < 4) return stage.begin(`${server}_fail`);
        // By another agent each time: of one agent's unknown tools only so many are recorded one by one.
        if (index < 6) return stage.begin(`${server}_nothing`, {}, { agent: `agent-${agents++ % 4}` });
        return stage.begin(`${server}_echo`, { message: 'x'.repeat(1000) });
      });
      calls[1]?.call.cancel('enough');
      await Promise.all(calls.map(({ result }) => result));
    }
  };
  await wave(false);
  const before = { timers: stage.clock.waiting, heap: heapUsed() };
  for (let round = 0; round < 64; round++) await wave(round % 32 === 0);
  expect(stage.hub.callsInFlight).toBe(0);
  await stage.hub.ledger.flush();
  await eventually(() => (stage.clock.waiting <= before.timers ? true : undefined), 'the timers of the calls to end');
  expect(heapUsed() - before.heap).toBeLessThan(8 * 1024 * 1024);
  // The agent's whole share is free again.
  const full = await Promise.all(Array.from({ length: 16 }, () => stage.call('up_echo', { message: 'hi' })));
  expect(full.map(({ kind }) => kind)).toEqual(full.map(() => 'result'));
  expect(await stage.ledger()).toHaveLength(65 * 32 + 16);
});

/** A server that never answers while the file `silent` exists. */
async function silentWhileFileExists(stage: Stage): Promise<string> {
  const script = stage.path('later.mjs');
  const [flag, server] = [stage.path('silent'), pathToFileURL(fixturePath('echo-stdio.mjs')).href].map((text) =>
    JSON.stringify(text),
  );
  await writeFile(
    script,
    `import { existsSync } from 'node:fs';
if (existsSync(${flag})) process.stdin.resume();
else await import(${server});
`,
  );
  return script;
}

function heapUsed(): number {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void; // what the flag exposes
  collect();
  collect();
  return process.memoryUsage().heapUsed;
}
