import { expect, test } from 'vitest';
import { verifies } from '../../../test/support/verifies.ts';
import { createManualClock } from '../../base/manual-clock.fixture.ts';
import { type BackoffEvent, HubError, McpRateLimitError, withBackoff } from '../../index.ts';

function limited(retryAfterMs?: number): McpRateLimitError {
  const details = { server: 'files', ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
  return new McpRateLimitError(new HubError('RATE_LIMITED', 'rate limit', { details }));
}

/** Runs the work on a clock that jumps to the next timer whenever somebody waits. */
async function backOff(failures: readonly unknown[], tries?: number) {
  const clock = createManualClock();
  const events: BackoffEvent[] = [];
  const rest = [...failures];
  let runs = 0;
  const work = async (): Promise<string> => {
    runs++;
    if (rest.length > 0) throw rest.shift();
    return 'done';
  };
  const running = withBackoff(work, { clock, onEvent: (event) => events.push(event), ...(tries ? { tries } : {}) });
  let settled = false;
  const outcome = running
    .then(
      (value) => ({ value }),
      (error: unknown) => ({ error }),
    )
    .finally(() => {
      settled = true;
    });
  for (let turn = 0; turn < 1000 && !settled; turn++) {
    await Promise.resolve();
    if (clock.waiting > 0) clock.advance(100);
  }
  return { outcome: await outcome, events, runs, seconds: clock.monotonic() / 1000 };
}

test(verifies('library:backoff', 'work at a rate limit is tried again after 1 and 2 seconds'), async () => {
  const { outcome, events, runs, seconds } = await backOff([limited(), limited()]);
  expect(outcome).toEqual({ value: 'done' });
  expect(runs).toBe(3);
  expect(seconds).toBe(3);
  expect(events).toEqual([
    { event: 'mcp_rate_limit', server: 'files', retry_attempt: 1, wait_time: 1 },
    { event: 'mcp_rate_limit', server: 'files', retry_attempt: 2, wait_time: 2 },
  ]);
});

test('the third failure is thrown as it was', async () => {
  const last = limited();
  const { outcome, events, runs } = await backOff([limited(), limited(), last]);
  expect(outcome).toEqual({ error: last });
  expect('error' in outcome && outcome.error).toBe(last);
  expect([runs, events.length]).toEqual([3, 2]);
  expect((await backOff([last], 1)).outcome).toEqual({ error: last });
});

test('a longer time that the server wants is waited for, a shorter one is not', async () => {
  const { events, seconds } = await backOff([limited(4500), limited(100)]);
  expect(events.map(({ wait_time }) => wait_time)).toEqual([4.5, 2]);
  expect(seconds).toBe(6.5);
});

test('any other error is thrown at once', async () => {
  for (const error of [new HubError('OVERLOADED', 'busy'), new HubError('RATE_LIMITED', 'not of a call'), 'text']) {
    const { outcome, runs, events } = await backOff([error]);
    expect(outcome).toEqual({ error });
    expect([runs, events]).toEqual([1, []]);
  }
});

test('an aborted wait ends at once, and the work is not tried again', async () => {
  const clock = createManualClock();
  const stop = new AbortController();
  const error = limited();
  let runs = 0;
  const work = async (): Promise<never> => {
    runs++;
    throw error;
  };
  const running = withBackoff(work, { clock, signal: stop.signal, onEvent: () => stop.abort() });
  await expect(running).rejects.toMatchObject({ code: 'CANCELLED', cause: error, details: { server: 'files' } });
  expect([runs, clock.waiting]).toEqual([1, 0]);
});
