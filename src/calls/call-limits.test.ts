import { expect, test } from 'vitest';
import { verifies } from '../../test/support/verifies.ts';
import { type ErrorCode, HubError } from '../base/index.ts';
import type { CallResult } from './call.ts';
import { type CallStage, openCallStage } from './call-stage.fixture.ts';

test('a server with as many calls as it may have says which and how many', async () => {
  const stage = await openCallStage({}, { concurrency: 0 });
  const result = await stage.run(stage.call('files_read'));
  expect(result).toMatchObject({
    error: { message: 'Server "files" already has 0 calls in flight.', details: { server: 'files', tool: 'read' } },
  });
});

test(verifies('limits:rate', 'a call over the rate limit is not sent, and is told when to try again'), async () => {
  const stage = await openCallStage({}, { ratePerMin: 2 });
  const others = [{ agent: 'other', chain: ['other'] }, {}, {}].map((caller) =>
    stage.call('files_write', {
      caller: { agent: 'dev', project: 'workspace', chain: ['dev'], tokenId: undefined, run: 'run-1', ...caller },
    }),
  );
  const results = await Promise.all(others.map((call) => stage.run(call)));
  // The first one had to connect, so which of them comes too late is not said.
  expect(results.map(({ kind }) => kind).sort()).toEqual(['failed', 'result', 'result']);
  const [error] = results.flatMap((result) => (result.kind === 'failed' ? [result.error] : []));
  expect(error).toMatchObject({ code: 'RATE_LIMITED', details: { server: 'files', tool: 'write' } });
  expect(error?.message).toMatch(/^Server "files" is at its rate limit of 2 per minute\. Try again in \d+ s\.$/);
  expect(error?.details.retryAfterMs).toBeGreaterThan(0);
  expect(stage.files.sent).toHaveLength(2);
  const refused = (await stage.lines()).filter(({ outcome }) => outcome === 'rate_limited');
  expect(refused).toMatchObject([{ status: 'error', server: 'files', error: expect.stringContaining('rate limit') }]);
  expectAllReturned(stage);
});

test('calls that never reach the server do not count against its rate', async () => {
  const stage = await openCallStage({}, { ratePerMin: 1, concurrency: 1 });
  const connect = stage.files.onConnect;
  stage.files.onConnect = () => Promise.reject(new HubError('UPSTREAM_UNAVAILABLE', 'away'));
  const cancelled = stage.call('files_read');
  cancelled.cancel('the user left');
  expect(codeOf(await stage.run(cancelled))).toBe('CANCELLED');
  expect(codeOf(await stage.run(stage.call('files_ask')))).toBe('APPROVAL_REQUIRED');
  for (const _ of [1, 2]) expect(codeOf(await stage.run(stage.call('files_read')))).toBe('UPSTREAM_UNAVAILABLE');
  stage.files.onConnect = connect;
  const both = await Promise.all([stage.run(stage.call('files_read')), stage.run(stage.call('files_read'))]);
  expect(both.map(codeOf)).toEqual([undefined, 'OVERLOADED']);
  expect(codeOf(await stage.run(stage.call('files_read')))).toBe('RATE_LIMITED');
  expectAllReturned(stage);
});

function codeOf(result: CallResult): ErrorCode | undefined {
  return result.kind === 'failed' ? result.error.code : undefined;
}

function expectAllReturned(stage: CallStage): void {
  expect(stage.files.held).toBe(0);
  expect(stage.inFlight.size).toBe(0);
}
