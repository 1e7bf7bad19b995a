import { expect, test } from 'vitest';
import type { CallResult } from '../../../src/calls/index.ts';
import { codeOf, openStage, type Stage, stdioServer, textOf } from '../../support/hub.ts';
import { verifies } from '../../support/verifies.ts';
import { eventually, pause } from '../../support/within.ts';

interface Attempt {
  readonly tool: 'echo' | 'counter';
  readonly tag: string;
  readonly result: CallResult;
}

/** Callers that call without pause until told to stop, each call with a mark of its own. */
function callersOf(stage: Stage, count: number) {
  const attempts: Attempt[] = [];
  let stopped = false;
  async function caller(number: number): Promise<void> {
    for (let turn = 0; !stopped; turn++) {
      const tag = `${number}-${turn}`;
      const tool = turn % 4 === 3 ? 'counter' : 'echo';
      attempts.push({ tool, tag, result: await stage.call(`up_${tool}`, { message: tag, tag }) });
      await pause(5);
    }
  }
  const all = Promise.all(Array.from({ length: count }, (_, number) => caller(number)));
  return {
    attempts,
    async stop(): Promise<readonly Attempt[]> {
      stopped = true;
      await all;
      return attempts;
    },
    /** Every caller gets good answers again. */
    async goodAgain(meanwhile: () => void = () => {}): Promise<void> {
      const from = attempts.length;
      await eventually(() => {
        meanwhile();
        const good = attempts.slice(from).filter(({ result }) => result.kind === 'result');
        return new Set(good.map(({ tag }) => tag.split('-')[0])).size === count ? true : undefined;
      }, 'good answers for everybody');
    },
  };
}

/** No wrong answer, no failure of another kind, nothing sent twice, and the ledger knows it all. */
async function check(stage: Stage, attempts: readonly Attempt[]): Promise<void> {
  const runs = new Map<unknown, number>();
  for (const { arguments: args } of await stage.lines('calls.log')) {
    const { tag } = args as { tag: unknown }; // as the callers write it
    runs.set(tag, (runs.get(tag) ?? 0) + 1);
  }
  const outcomes = new Map(
    (await stage.ledger()).map(({ args, outcome }) => [(args as { tag?: unknown }).tag, outcome]), // as above
  );
  for (const { tool, tag, result } of attempts) {
    const ran = runs.get(tag) ?? 0;
    expect(ran, `${tool} ${tag} was sent twice`).toBeLessThanOrEqual(1);
    if (result.kind === 'result') {
      if (tool === 'echo') expect(textOf(result)).toBe(tag);
      expect([ran, outcomes.get(tag)]).toEqual([1, 'ok']);
    } else {
      expect(codeOf(result)).toMatch(/^UPSTREAM_(LOST|UNAVAILABLE)$/);
      expect(outcomes.get(tag)).toBe(codeOf(result) === 'UPSTREAM_LOST' ? 'lost' : 'unavailable');
      if (codeOf(result) === 'UPSTREAM_UNAVAILABLE') expect(ran, `${tag} ran though nothing was sent`).toBe(0);
    }
  }
}

test.each([
  ['2025, with sessions', ['--era', 'legacy', '--sessions']],
  ['2025, with sessions, by streams', ['--era', 'legacy', '--sessions', '--sse']],
  ['2026', ['--era', 'modern']],
])('an HTTP server (%s) that is restarted under load', async (_what, args) => {
  const stage = await openStage();
  const fixture = await stage.fixture('echo-http.mjs', args, { CALL_LOG: stage.path('calls.log') });
  await stage.start({ servers: { up: { url: fixture.url } } });
  await stage.names();
  const callers = callersOf(stage, 16);
  await callers.goodAgain();
  for (let round = 0; round < 3; round++) {
    const stoppedAt = performance.now();
    await fixture.restart();
    // Away for less than this, it cannot have been missed three times; on a slow machine it may.
    const awayForLong = performance.now() - stoppedAt > 700;
    await callers.goodAgain(() => {
      if (awayForLong && stage.status('up').state === 'open-circuit') stage.clock.advance(61_000);
    });
  }
  await check(stage, await callers.stop());
  expect(stage.status('up').state).toBe('connected');
});

test(verifies('upstream:session-lost', 'a session that the server forgot is invisible to callers'), async () => {
  const stage = await openStage();
  const log = { CALL_LOG: stage.path('calls.log') };
  const fixture = await stage.fixture('echo-http.mjs', ['--era', 'legacy', '--sessions'], log);
  await stage.start({ servers: { up: { url: fixture.url } } });
  await stage.names();
  for (let round = 0; round < 3; round++) {
    const tags = Array.from({ length: 16 }, (_, number) => `${round}-${number}`);
    const results = await Promise.all(tags.map((tag) => stage.call('up_counter', { tag })));
    expect(results.map((result) => result.kind)).toEqual(tags.map(() => 'result'));
    // Counted by the server itself: one process, sixteen calls, each once.
    expect(new Set(results.map(textOf))).toEqual(new Set(tags.map((_, number) => String(number + 1))));
    await fixture.restart();
  }
  expect(await stage.lines('calls.log')).toHaveLength(48);
  const lines = await stage.ledger();
  expect(lines.filter(({ retries }) => retries === 1)).toHaveLength(32);
  // Each round was answered in a session of its own, and its calls are recorded with that one.
  const recorded = lines.map(({ args, session_id }) => `${(args as { tag: string }).tag[0]} ${session_id}`); // as sent
  expect(new Set(recorded).size).toBe(3);
  expect(new Set(lines.map(({ session_id }) => session_id)).size).toBe(3);
});

test('a call that only reads and whose connection was reset is repeated in the same session', async () => {
  const stage = await openStage();
  const log = { CALL_LOG: stage.path('calls.log'), INITIALIZE_LOG: stage.path('initialize.log') };
  const fixture = await stage.fixture('bad-http.mjs', ['resets-first-call', '--sessions'], log);
  await stage.start({ servers: { up: { url: fixture.url } } });
  await stage.names();
  expect(await stage.say('up_add', { a: 1, b: 2 })).toBe('3');
  expect(stage.status('up')).toMatchObject({ state: 'connected', error: undefined });
  expect(await stage.say('up_counter', {})).toBe('1');
  expect((await stage.lines('calls.log')).map(({ tool }) => tool)).toEqual(['add', 'add', 'counter']);
  // Both records come after the reset, so only the server knows whether there was a second session.
  expect(await stage.lines('initialize.log')).toHaveLength(1);
  const [first, second] = await stage.ledger();
  expect([first?.retries, second?.retries]).toEqual([1, 0]);
  expect(first?.session_id).toMatch(/./);
  expect(second?.session_id).toBe(first?.session_id);
});

test(verifies('upstream:restart', 'a child that is killed under load is started again'), async () => {
  const stage = await openStage();
  const env = { CALL_LOG: stage.path('calls.log') };
  await stage.start({ servers: { up: stdioServer('echo-stdio.mjs', [], { env }) } });
  await stage.names();
  const callers = callersOf(stage, 16);
  await callers.goodAgain();
  const pids = new Set<number>();
  for (let round = 0; round < 4; round++) {
    const pid = await eventually(() => stage.children()[0], 'its process');
    expect(pids.has(pid)).toBe(false);
    pids.add(pid);
    process.kill(pid, 'SIGKILL');
    await eventually(() => (stage.children().includes(pid) ? undefined : true), 'its end');
    await callers.goodAgain();
  }
  const attempts = await callers.stop();
  await check(stage, attempts);
  // Each kill costs at most what was in flight or came while the next process started.
  const lost = attempts.filter(({ result }) => codeOf(result) === 'UPSTREAM_LOST');
  expect(lost.length).toBeLessThanOrEqual(4 * 16);
});

test('an idle child that is killed is there for the next call', async () => {
  const stage = await openStage();
  await stage.start({ servers: { up: stdioServer('echo-stdio.mjs') } });
  await stage.names();
  for (let round = 0; round < 3; round++) {
    stage.clock.advance(10_000);
    for (const pid of stage.children()) process.kill(pid, 'SIGKILL');
    await eventually(() => (stage.status('up').state === 'connected' ? undefined : true), 'the loss to be seen');
    expect(await stage.say('up_echo', { message: 'hi' })).toBe('hi');
  }
});

test('a server whose tools changed while it was away is listed anew', async () => {
  const stage = await openStage();
  const fixture = await stage.fixture('tools-change.mjs', ['--http', '0']);
  await stage.start({ servers: { up: { url: fixture.url } } });
  await stage.names();
  await stage.say('up_grow');
  await eventually(async () => ((await stage.names()).includes('up_sapling_1') ? true : undefined), 'the sapling');
  await fixture.restart();
  // Nobody calls: the hub finds out by the stream that it keeps open for announcements.
  await stage.hurry(
    eventually(async () => ((await stage.names()).includes('up_sapling_1') ? undefined : true), 'the old list'),
  );
});
