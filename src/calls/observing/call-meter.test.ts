import { expect, test } from 'vitest';
import { verifies } from '../../../test/support/verifies.ts';
import { systemFiles } from '../../ledger/journal/file-operations.ts';
import { type CallStage, openCallStage } from '../call-stage.fixture.ts';
import { failureOf, scriptConnection, scriptedResult } from '../scripted-server.fixture.ts';

test(verifies('metrics:each-call-once', 'the meter gets the same outcome as the ledger for each call'), async () => {
  const stage = await openCallStage();
  stage.files.replies = [
    () => scriptedResult('{"content":[]}'),
    () => scriptedResult('{"isError":true}'),
    () => scriptedResult('{"resultType":"task"}'),
    () => ({ kind: 'error', id: 1, text: '{}', code: -32000, message: 'bad day' }),
    () => failureOf('UPSTREAM_TIMEOUT', 'gave-up', true),
    // Lost before anything was sent: the same call goes out once more, and ends once.
    () => failureOf('UPSTREAM_LOST', 'connection', false),
    () => scriptedResult('{"content":[]}'),
  ];
  for (let call = 0; call < 6; call++) await stage.run(stage.call('files_write'));
  const sent = stage.metered.map(({ outcome }) => outcome);
  expect(sent).toEqual(['ok', 'tool_error', 'upstream_error', 'upstream_error', 'timeout', 'ok']);
  expect(stage.metered.every((end) => end.sent && end.server === 'files')).toBe(true);
  await expectSameAsLedger(stage);
});

test('a call that is not sent is refused, with its server if there is one', async () => {
  const stage = await openCallStage();
  await stage.run(stage.call('files_nothing'));
  await stage.run(stage.call('files_secret'));
  await stage.run(stage.call('files_ask'));
  await stage.run(stage.call('files_write', { argumentsText: '[]', args: [] }));
  const cancelled = stage.call('files_write');
  cancelled.cancel('enough');
  await stage.run(cancelled);
  stage.stopping = true;
  await stage.run(stage.call('files_write'));
  expect(stage.metered).toEqual([
    { sent: false, server: undefined, outcome: 'unknown_tool' },
    { sent: false, server: 'files', outcome: 'denied' },
    { sent: false, server: 'files', outcome: 'denied' },
    { sent: false, server: 'files', outcome: 'invalid' },
    { sent: false, server: 'files', outcome: 'cancelled' },
    { sent: false, server: 'files', outcome: 'unavailable' },
  ]);
  await expectSameAsLedger(stage);
});

test('a call that could not be recorded was not sent', async () => {
  let full = false;
  const stage = await openCallStage({
    write(...args) {
      if (full) throw new Error('no room');
      return systemFiles.write(...args);
    },
  });
  full = true;
  await stage.run(stage.call('files_write'));
  full = false;
  expect(stage.metered).toEqual([{ sent: false, server: 'files', outcome: 'unavailable' }]);
  await expectSameAsLedger(stage);
});

test('a defect is counted once', async () => {
  const stage = await openCallStage();
  stage.files.connection = {
    ...scriptConnection(stage.files),
    send() {
      throw new TypeError('a defect');
    },
  };
  await expect(stage.run(stage.call('files_read'))).rejects.toThrow('a defect');
  expect(stage.metered).toMatchObject([{ sent: true, server: 'files', outcome: 'upstream_error' }]);
  await expectSameAsLedger(stage);
});

async function expectSameAsLedger(stage: CallStage): Promise<void> {
  const lines = await stage.lines();
  expect(stage.metered.map(({ server, outcome }) => [server ?? null, outcome])).toEqual(
    lines.map(({ server, outcome }) => [server, outcome]),
  );
  for (const [index, { sent, durationMs }] of stage.metered.entries()) {
    if (sent) expect(durationMs).toBeCloseTo(lines[index]?.duration_ms ?? Number.NaN, 2);
  }
}
