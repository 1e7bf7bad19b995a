import { expect, onTestFinished, test } from 'vitest';
import { fixturePath } from '../../../test/support/fixture-servers.ts';
import { ledgerOf } from '../../../test/support/state-home.ts';
import { verifies } from '../../../test/support/verifies.ts';
import { eventually, within } from '../../../test/support/within.ts';
import { type CallOutcome, createHub, HubError, McpRateLimitError, withBackoff } from '../../index.ts';
import { readCalls } from '../../ledger/index.ts';
import { broken, echo, openLibraryHub, openWorkspace } from './library-stage.fixture.ts';

const texts = (outcomes: readonly CallOutcome[]): unknown[] =>
  outcomes.map((outcome) => (outcome.status === 'ok' ? outcome.result.text : outcome.error.code));

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
    const calls = await readCalls(ledgerOf(workspace));
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

test(verifies('library:quiet-signals', 'many calls under one deadline and one signal print no warning'), async () => {
  const hub = await openLibraryHub({ servers: { echo } });
  const agent = hub.agent('tester');
  const warnings: string[] = [];
  const note = ({ message }: Error): void => void warnings.push(message);
  process.on('warning', note);
  onTestFinished(() => void process.off('warning', note));
  const { signal } = new AbortController();
  const calls = Array.from({ length: 40 }, (_, index) => ({ tool: 'echo.echo', args: { message: `${index}` } }));
  const wanted = calls.map(({ args }) => args.message);
  for (const options of [{ deadlineMs: 60_000 }, { signal }, { signal, deadlineMs: 60_000 }]) {
    expect(texts(await agent.callAll(calls, options))).toEqual(wanted);
  }
  const apart = await Promise.all(calls.map(({ tool, args }) => agent.call(tool, args, { signal })));
  expect(apart.map(({ text }) => text)).toEqual(wanted);
  const refused = async (): Promise<never> => {
    throw new McpRateLimitError(new HubError('RATE_LIMITED', 'Later.'));
  };
  const stop = new AbortController();
  let asleep = 0;
  const onEvent = (): void => void asleep++;
  const waiting = Promise.allSettled(calls.map(() => withBackoff(refused, { signal: stop.signal, onEvent })));
  await eventually(() => asleep === calls.length, 'all to wait');
  stop.abort();
  expect((await waiting).map(({ status }) => status)).toEqual(calls.map(() => 'rejected'));
  // Warnings are emitted on the next tick.
  await new Promise(setImmediate);
  expect(warnings).toEqual([]);
});
