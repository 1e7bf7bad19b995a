import { expect, test } from 'vitest';
import { verifies } from '../../test/support/verifies.ts';
import { createAgentAccounts } from '../base/index.ts';
import type { CallRequest, CallResult } from './call.ts';
import { openCallStage } from './call-stage.fixture.ts';
import { scriptedResult } from './scripted-server.fixture.ts';

const mebibyte = 1024 * 1024;

/** Callers of a hub that holds 4 MiB of arguments for each agent, and 16 MiB in all. */
function callersOf(...agents: string[]): CallRequest['caller'][] {
  const accounts = createAgentAccounts({ bytesPerAgent: 8 * mebibyte, bytesInAll: 32 * mebibyte });
  return agents.map((agent) => ({
    agent,
    project: 'workspace',
    chain: [agent],
    tokenId: undefined,
    run: 'run-1',
    account: accounts.of(agent),
  }));
}

function large(caller: CallRequest['caller'], args: unknown): Partial<CallRequest> {
  return { caller, args, argumentsText: JSON.stringify(args) };
}

test(
  verifies(
    'limits:arguments',
    'arguments count until the call ends, for its agent alone, and are refused before sending',
  ),
  async () => {
    const stage = await openCallStage();
    const [dev, other] = callersOf('dev', 'other');
    if (dev === undefined || other === undefined) throw new Error('there are two');
    const ends: (() => void)[] = [];
    stage.files.replies = Array.from({ length: 5 }, () => async () => {
      await new Promise<void>((resolve) => ends.push(resolve));
      return scriptedResult('{"content":[]}');
    });
    const call = (caller: CallRequest['caller']): Promise<CallResult> =>
      stage.run(stage.call('files_write', large(caller, { text: 'x'.repeat(1.5 * mebibyte) })));
    const first = [call(dev), call(dev)];
    expect(await call(dev)).toMatchObject({ kind: 'failed', error: { code: 'OVERLOADED' } });
    // Small calls and other agents are not refused.
    const others = [call(other), stage.run(stage.call('files_write', { caller: dev }))];
    while (ends.length < 4) await new Promise((resolve) => setImmediate(resolve));
    for (const end of ends) end();
    for (const result of await Promise.all([...first, ...others])) expect(result.kind).toBe('result');
    expect([dev.account?.arguments.used, other.account?.arguments.used]).toEqual([0, 0]);
    expect(stage.files.sent).toHaveLength(4);
    const refused = (await stage.lines()).filter(({ outcome }) => outcome !== 'ok');
    expect(refused).toMatchObject([{ server: 'files', tool: 'write', transport: null }]);
  },
);

test('many small values count for more than their text, and a call that is alone is never refused', async () => {
  const stage = await openCallStage();
  const [dev] = callersOf('dev');
  if (dev === undefined) throw new Error('there is one');
  let end = (): void => {};
  stage.files.replies = [
    async () => {
      await new Promise<void>((resolve) => {
        end = resolve;
      });
      return scriptedResult('{"content":[]}');
    },
  ];
  const dense = stage.call('files_write', large(dev, { list: Array.from({ length: 200_000 }, () => []) }));
  const running = stage.run(dense);
  while (dense.state !== 'sent') await new Promise((resolve) => setImmediate(resolve));
  // The text is on its way, and nothing is decided on the values any more.
  expect([dense.request.args, dense.request.argumentsText.length]).toEqual([undefined, 600_010]);
  expect(dev.account?.arguments.used).toBeGreaterThan(4 * mebibyte);
  const next = stage.call('files_write', large(dev, { text: 'x'.repeat(100_000) }));
  expect(await stage.run(next)).toMatchObject({ kind: 'failed', error: { code: 'OVERLOADED' } });
  end();
  expect((await running).kind).toBe('result');
  expect(dev.account?.arguments.used).toBe(0);
});

test(verifies('limits:arguments', 'a call counts the whole message that it came with'), async () => {
  const stage = await openCallStage();
  const [dev] = callersOf('dev');
  if (dev === undefined) throw new Error('there is one');
  const ends: (() => void)[] = [];
  stage.files.replies = [
    async () => {
      await new Promise<void>((resolve) => ends.push(resolve));
      return scriptedResult('{"content":[]}');
    },
  ];
  const call = (heldBytes: number): Promise<CallResult> =>
    stage.run(stage.call('files_write', { caller: dev, heldBytes }));
  const first = call(3 * mebibyte);
  while (ends.length < 1) await new Promise((resolve) => setImmediate(resolve));
  expect(dev.account?.arguments.used).toBe(3 * mebibyte);
  expect(await call(2 * mebibyte)).toMatchObject({ kind: 'failed', error: { code: 'OVERLOADED' } });
  for (const end of ends) end();
  expect((await first).kind).toBe('result');
  expect(dev.account?.arguments.used).toBe(0);
});

test('a tool that the agent may not see is answered like one that does not exist', async () => {
  const stage = await openCallStage();
  const [dev] = callersOf('dev');
  if (dev === undefined) throw new Error('there is one');
  dev.account?.arguments.add(4 * mebibyte);
  const args = { text: 'x'.repeat(100_000) };
  const results = await Promise.all(
    ['files_secret', 'files_absent'].map((name) => stage.run(stage.call(name, large(dev, args)))),
  );
  const [hidden, unknown] = results.map((result) => (result.kind === 'failed' ? { ...result.error } : result));
  expect(hidden).toEqual(unknown);
});
