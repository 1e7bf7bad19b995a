import { expect, test } from 'vitest';
import { verifies } from '../../../test/support/verifies.ts';
import type { CallArguments } from '../../domain/index.ts';
import { systemFiles } from '../../ledger/journal/file-operations.ts';
import type { CallResult } from '../call.ts';
import { openCallStage } from '../call-stage.fixture.ts';
import { recordedPerMinute } from '../refusal-records.ts';
import { failureOf, scriptedResult } from '../scripted-server.fixture.ts';

test('a call ends in the state that its way led to', async () => {
  const stage = await openCallStage();
  stage.files.replies = [
    () => scriptedResult('{"content":[]}'),
    () => scriptedResult('{"isError":true,"content":[]}'),
    () => failureOf('INTERRUPTED', 'gave-up', true),
  ];
  const names = ['files_write', 'files_write', 'files_write', 'files_ask', 'nowhere_read'];
  const calls = names.map((name) => stage.call(name));
  for (const call of calls) await stage.run(call);
  expect(calls.map(({ state }) => state)).toEqual(['done', 'failed', 'interrupted', 'refused', 'refused']);
});

test(
  verifies('view:hidden-is-unknown', 'a hidden tool and one that does not exist are answered alike, but for the name'),
  async () => {
    const stage = await openCallStage();
    const hidden = await stage.run(stage.call('files_secret', { args: [], argumentsText: '[]' }));
    const unknown = await stage.run(stage.call('files_absent', { args: [], argumentsText: '[]' }));
    expect(toText(hidden).replaceAll('files_secret', 'files_absent')).toBe(toText(unknown));
    const lines = await stage.lines();
    // The operator can tell them apart.
    const place = { rule: 'files.secret', rule_source: 'quartermaster.yaml:1' };
    const error = 'files.secret is denied: rule "files.secret" for every agent applies (quartermaster.yaml:1).';
    expect(lines).toMatchObject([
      { server: 'files', tool: 'secret', decision: 'deny', outcome: 'denied', ...place, error },
      { server: null, tool: 'files_absent', decision: 'deny', outcome: 'unknown_tool', rule: null, rule_source: null },
    ]);
    expect(stage.metered.map(({ server, outcome }) => [server, outcome])).toEqual([
      ['files', 'denied'],
      [undefined, 'unknown_tool'],
    ]);
  },
);

test(
  verifies(
    'view:hidden-is-unknown',
    'a denied tool by the name that operators use is recorded truly, discovered or not',
  ),
  async () => {
    const stage = await openCallStage();
    const denied = { server: 'files', tool: 'secret', outcome: 'denied', rule: 'files.secret' };
    const unknown = { kind: 'failed', error: { code: 'TOOL_UNKNOWN' } };
    for (const name of ['files.secret', 'files.absent'])
      expect(await stage.run(stage.call(name))).toMatchObject(unknown);
    expect(await stage.lines()).toMatchObject([
      denied,
      { server: null, tool: 'files.absent', outcome: 'unknown_tool' },
    ]);
    // Nobody starts a server for a tool that is denied, so it may never have listed its tools.
    stage.files.catalog = undefined;
    stage.views.renew(stage.source);
    await stage.run(stage.call('files.secret'));
    expect((await stage.lines()).at(-1)).toMatchObject(denied);
    expect(stage.files.sent).toEqual([]);
  },
);

test(
  verifies('policy:conditions', 'a call is decided on its arguments, and the record has the rule that decided'),
  async () => {
    const inTmp = ({ path }: CallArguments): boolean => String(path).startsWith('/tmp/');
    const stage = await openCallStage({}, {}, undefined, {
      policy: { 'files.*': 'deny', 'files.write': { effect: 'allow', when: inTmp } },
    });
    const write = (path: string) =>
      stage.run(stage.call('files_write', { args: { path }, argumentsText: JSON.stringify({ path }) }));
    expect(await write('/tmp/a')).toMatchObject({ kind: 'result' });
    // The agent sees the tool, so it may know why.
    expect(await write('/etc/a')).toMatchObject({ kind: 'failed', error: { code: 'POLICY_DENIED' } });
    expect([...stage.views.of(['dev']).entries.keys()]).toEqual(['files_write']);
    expect(stage.files.sent).toHaveLength(1);
    expect(await stage.lines()).toMatchObject([
      { decision: 'allow', outcome: 'ok', rule: 'files.write', rule_source: 'quartermaster.yaml:2' },
      { decision: 'deny', outcome: 'denied', rule: 'files.*', rule_source: 'quartermaster.yaml:1', tool: 'write' },
    ]);
  },
);

test(
  verifies('ledger:held', 'a call that a rule asks about is held on the ledger before it is refused, and never sent'),
  async () => {
    const stage = await openCallStage();
    const result = await stage.run(stage.call('files_ask'));
    expect(result).toMatchObject({ kind: 'failed', error: { code: 'APPROVAL_REQUIRED' } });
    expect(await stage.lines()).toMatchObject([
      { tool: 'ask', outcome: 'denied', decision: 'ask', rule: 'files.ask', transport: null },
    ]);
    const kinds = stage
      .journal()
      .trimEnd()
      .split('\n')
      .map((line) => (JSON.parse(line) as { k: string }).k); // every record has a kind
    expect(kinds).toEqual(['header', 'chain', 'held', 'chain', 'refused', 'chain']);
    expect(stage.files.sent).toEqual([]);
    expect(stage.metered).toEqual([{ sent: false, server: 'files', outcome: 'denied' }]);
  },
);

test(verifies('ledger:held', 'a held call has its record, however many calls were refused before'), async () => {
  const stage = await openCallStage();
  const count = recordedPerMinute;
  for (let left = count + 5; left > 0; left--) await stage.run(stage.call('nowhere_read'));
  for (let left = count; left > 0; left--) await stage.run(stage.call('files_ask'));
  expect((await stage.lines()).filter(({ tool }) => tool === 'ask')).toHaveLength(count);
  expect(stage.journal().match(/"k":"held"/g)).toHaveLength(count);
  expect(stage.metered).toHaveLength(2 * count + 5);
});

test(verifies('ledger:refused-rate', 'calls that a rule asks about cannot fill the disk either'), async () => {
  const stage = await openCallStage();
  for (let count = 0; count < 3 * recordedPerMinute; count++) await stage.run(stage.call('files_ask'));
  expect(stage.journal().match(/"k":"held"/g)).toHaveLength(recordedPerMinute);
  expect(await stage.lines()).toHaveLength(2 * recordedPerMinute);
  expect(stage.metered).toHaveLength(3 * recordedPerMinute);
});

test(verifies('ledger:held', 'nobody is asked about a call that is invalid or cancelled'), async () => {
  const stage = await openCallStage();
  const invalid = await stage.run(stage.call('files_ask', { args: [], argumentsText: '[]' }));
  expect(invalid).toMatchObject({ kind: 'failed', error: { code: 'ARGUMENTS_INVALID' } });
  const call = stage.call('files_ask');
  call.cancel('enough');
  expect(await stage.run(call)).toMatchObject({ kind: 'failed', error: { code: 'CANCELLED' } });
  expect(await stage.lines()).toMatchObject([{ outcome: 'invalid' }, { outcome: 'cancelled' }]);
  expect(stage.journal()).not.toContain('"k":"held"');
});

test(verifies('ledger:held', 'nobody is asked about a call while nothing can be recorded'), async () => {
  let full = false;
  const stage = await openCallStage({
    write(...args) {
      if (full) throw new Error('no room');
      return systemFiles.write(...args);
    },
  });
  full = true;
  const result = await stage.run(stage.call('files_ask'));
  full = false;
  expect(result).toMatchObject({ kind: 'failed', error: { code: 'LEDGER_UNAVAILABLE' } });
  expect(await stage.lines()).toMatchObject([{ tool: 'ask', outcome: 'unavailable' }]);
});

function toText(result: CallResult): string {
  if (result.kind !== 'failed') throw new Error(`a ${result.kind}`);
  const { code, message, hint, details } = result.error;
  return JSON.stringify({ code, message, hint, details });
}
