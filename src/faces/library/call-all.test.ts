import { expect, test } from 'vitest';
import { fixturePath } from '../../../test/support/fixture-servers.ts';
import { verifies } from '../../../test/support/verifies.ts';
import { within } from '../../../test/support/within.ts';
import { type CallOutcome, createHub, HubError } from '../../index.ts';
import { readCalls } from '../../ledger/index.ts';
import { broken, echo, openLibraryHub, openWorkspace } from './library-stage.fixture.ts';

const texts = (outcomes: readonly CallOutcome[]): unknown[] =>
  outcomes.map((outcome) => (outcome.status === 'ok' ? outcome.result.content[0]?.text : outcome.error.code));

test('calls made together are answered in their order, each with its own outcome', async () => {
  const hub = await openLibraryHub({ servers: { echo, broken } });
  const outcomes = await hub
    .agent('tester')
    .callAll([
      { tool: 'echo.slow', args: { ms: 60 } },
      { tool: { type: 'mcp', server: 'echo', tool: 'echo' }, args: { message: 'hi' } },
      { tool: 'broken.echo' },
      { tool: 'echo.nothing' },
      { tool: 'echo.fail' },
    ]);
  expect(texts(outcomes).slice(0, 4)).toEqual(['waited 60 ms', 'hi', 'UPSTREAM_UNAVAILABLE', 'TOOL_UNKNOWN']);
  expect(outcomes[2]).toMatchObject({ error: { name: 'MCPServerError', server: 'broken' } });
  expect(outcomes[4]).toMatchObject({ status: 'ok', result: { isError: true } });
  for (const outcome of outcomes) if (outcome.status === 'error') expect(outcome.error).toBeInstanceOf(HubError);
  await expect(hub.agent('tester').callAll([])).resolves.toEqual([]);
});

test(
  verifies('library:call-all', 'at the deadline the rest is cancelled upstream and reads as a timeout'),
  async () => {
    const workspace = await openWorkspace({ servers: { echo } });
    const hub = await createHub({ workspace, env: { PATH: process.env.PATH } });
    try {
      const agent = hub.agent('tester');
      await agent.tools();
      const outcomes = await within(
        agent.callAll(
          [
            { tool: 'echo.echo', args: { message: 'hi' } },
            { tool: 'echo.slow', args: { ms: 60_000 } },
          ],
          {
            deadlineMs: 2000,
          },
        ),
        'calls to end at their deadline',
      );
      expect(texts(outcomes)).toEqual(['hi', 'UPSTREAM_TIMEOUT']);
      expect(outcomes[1]).toMatchObject({
        error: {
          message: 'The deadline of 2000 ms passed before the answer came.',
          details: { server: 'echo', tool: 'slow' },
        },
      });
    } finally {
      // It does not wait for the minute: the call has ended.
      await within(hub.close(), 'the hub to close', 45_000);
    }
    const calls = await readCalls(workspace);
    expect(calls.map(({ tool, outcome }) => [tool, outcome]).sort()).toEqual([
      ['echo', 'ok'],
      ['slow', 'timeout'],
    ]);
  },
);

test('a server that says nothing does not hold the others beyond the deadline', async () => {
  const mute = { command: process.execPath, args: [fixturePath('bad.mjs'), 'never-answers'] };
  const hub = await openLibraryHub({ servers: { echo, mute } });
  await hub.agent('tester').tools([{ type: 'mcp', server: 'echo', tool: 'echo' }]);
  const outcomes = hub
    .agent('tester')
    .callAll([{ tool: 'mute.echo' }, { tool: 'echo.echo', args: { message: 'hi' } }], { deadlineMs: 2000 });
  expect(texts(await within(outcomes, 'the deadline', 25_000))).toEqual(['UPSTREAM_TIMEOUT', 'hi']);
});

test('a signal ends all calls as cancelled; the deadline of another time does nothing', async () => {
  const hub = await openLibraryHub({ servers: { echo } });
  const agent = hub.agent('tester');
  const stop = new AbortController();
  const slow = { tool: 'echo.slow', args: { ms: 60_000 }, onProgress: () => stop.abort() };
  const outcomes = agent.callAll([slow, slow], { signal: stop.signal, deadlineMs: 60_000 });
  expect(texts(await within(outcomes, 'aborted calls'))).toEqual(['CANCELLED', 'CANCELLED']);
  expect(texts(await agent.callAll([slow], { signal: stop.signal }))).toEqual(['CANCELLED']);
});

test('what is no deadline is told, and nothing is called', async () => {
  const hub = await openLibraryHub({ servers: { echo } });
  for (const deadlineMs of [0, -1, Number.NaN, Number.POSITIVE_INFINITY]) {
    await expect(hub.agent('tester').callAll([{ tool: 'echo.echo' }], { deadlineMs })).rejects.toMatchObject({
      code: 'USAGE',
    });
  }
  expect(hub.status()[0]?.state).toBe('idle');
});
