import { writeFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { codeOf, openStage, stdioServer, textOf } from '../../support/hub.ts';
import { verifies } from '../../support/verifies.ts';
import { ann, askingConfig, askingStage, bob, openQuestions, question, untilState } from './approvals.fixture.ts';

test.each([
  ['a member with another value', '{"text":"b"}', false],
  ['a member more', '{"text":"a","more":1}', false],
  ['another order and blanks', '{ "n":1.0 , "text" : "a" }', true],
  ['another spelling of a number', '{"text":"a","n":1}', false],
  ['another spelling of a string', '{"text":"\\u0061","n":1.0}', false],
])(verifies('approvals:bound', 'approved arguments and %s'), async (_what, changed, isSame) => {
  const stage = await askingStage({ approvals: { wait: '1s' } });
  const original = { argumentsText: isSame || changed.includes('n"') ? '{"text":"a","n":1.0}' : '{"text":"a"}' };
  await stage.hurry(stage.call('echo_counter', {}, original));
  const { id } = await question(stage.hub);
  const approvals = await stage.hub.approvals.opened();
  await approvals.approve(id, ann);
  const result = await stage.hurry(stage.call('echo_counter', {}, { argumentsText: changed }));
  if (isSame) {
    expect(textOf(result)).toContain('1');
    return;
  }
  if (result.kind !== 'result') throw new Error(codeOf(result));
  expect(result.result.value.structuredContent).toMatchObject({ status: 'pending-approval' });
  expect(approvals.get(id).state.kind).toBe('approved');
});

test(verifies('approvals:bound', 'another agent, run or chain does not get the approval'), async () => {
  const stage = await askingStage({ approvals: { wait: '1s' } });
  await stage.hurry(stage.call('echo_counter'));
  const { id } = await question(stage.hub);
  const approvals = await stage.hub.approvals.opened();
  await approvals.approve(id, ann);
  const { hub } = stage;
  const strangers = [
    hub.callerFor({ agent: 'other' }),
    hub.callerFor({ agent: 'tester', run: 'another-run' }),
    hub.callerFor({ agent: 'tester', chain: ['tester', 'lead'], tokenId: 'child' }),
    hub.callerFor({ agent: 'tester', tokenId: 't2', runKeys: ['token:t2'] }),
  ];
  for (const caller of strangers) {
    const request = { kind: 'tool', caller, name: 'echo_counter', argumentsText: '{}', args: {}, meta: '' } as const;
    const result = await stage.hurry(hub.call({ ...request, channel: undefined }).result);
    expect(result).toMatchObject({ result: { value: { structuredContent: { status: 'pending-approval' } } } });
  }
  expect(approvals.get(id).state.kind).toBe('approved');
  expect(textOf(await stage.call('echo_counter'))).toContain('1');
});

test(verifies('approvals:redecided', 'a call that is denied meanwhile is not sent, whoever approved it'), async () => {
  const stage = await askingStage();
  const held = stage.begin('echo_counter');
  const { id } = await question(stage.hub);
  await stage.configure(
    askingConfig({ policies: { tools: { 'echo.*': 'require-approval', 'echo.counter': 'deny' } } }),
  );
  await stage.hub.reload();
  await (await stage.hub.approvals.opened()).approve(id, ann);
  expect(codeOf(await held.result)).toBe('TOOL_UNKNOWN');
  expect(await stage.ledger()).toMatchObject([{ outcome: 'denied', decision: 'deny', transport: null }]);
});

test(verifies('approvals:redecided', 'a call that needs no approval any more runs without one'), async () => {
  const stage = await askingStage({ approvals: { wait: '1s' } });
  await stage.hurry(stage.call('echo_counter'));
  const { id } = await question(stage.hub);
  await stage.configure(askingConfig({ policies: { tools: { 'echo.*': 'allow' } } }));
  await stage.hub.reload();
  expect(textOf(await stage.call('echo_counter'))).toContain('1');
  expect((await stage.hub.approvals.opened()).get(id).state.kind).toBe('open');
});

test.each([
  ['another credential', (config: ReturnType<typeof askingConfig>) => withEnv(config, 'second')],
  ['another rule', () => askingConfig({ policies: { tools: { 'echo.counter': 'require-approval' } } })],
])(verifies('approvals:redecided', '%s asks again'), async (_what, change) => {
  const stage = await askingStage();
  const config = withEnv(askingConfig({ approvals: { wait: '1s' } }), 'first');
  await stage.start(config);
  await stage.names();
  await stage.hurry(stage.call('echo_counter'));
  const { id } = await question(stage.hub);
  const approvals = await stage.hub.approvals.opened();
  await approvals.approve(id, ann);
  await stage.configure({ ...change(config), approvals: { wait: '1s' } });
  await stage.hub.reload();
  await stage.names();
  const result = await stage.hurry(stage.call('echo_counter'));
  expect(result).toMatchObject({ result: { value: { structuredContent: { status: 'pending-approval' } } } });
  expect(approvals.get(id).state).toMatchObject({ kind: 'void', why: expect.stringContaining('changed') });
  expect((await question(stage.hub)).id).not.toBe(id);
});

test(verifies('approvals:redecided', 'another definition of the tool asks again'), async () => {
  const stage = await openStage();
  const file = stage.path('tools.json');
  const tools = (description: string): Promise<void> =>
    writeFile(file, JSON.stringify([{ name: 'edit', description, inputSchema: { type: 'object' } }]));
  await tools('Edits');
  const server = stdioServer('defined-tools.mjs', [file]);
  await stage.start({
    servers: { echo: server },
    policies: { tools: { 'echo.*': 'require-approval' } },
    approvals: { wait: '1s' },
  });
  const [name = ''] = (await stage.names()).filter((tool) => tool.includes('edit'));
  await stage.hurry(stage.call(name));
  const { id } = await question(stage.hub);
  const approvals = await stage.hub.approvals.opened();
  await approvals.approve(id, ann);
  await tools('Deletes everything');
  await stage.stop();
  await stage.open();
  await stage.hub.discover(['echo']);
  const result = await stage.hurry(stage.call(name));
  expect(result).toMatchObject({ result: { value: { structuredContent: { status: 'pending-approval' } } } });
  expect((await stage.hub.approvals.opened()).get(id).state).toMatchObject({ kind: 'void' });
});

test(verifies('approvals:store', 'of two people who decide at once one wins, and the other is told who'), async () => {
  const stage = await askingStage();
  const held = stage.begin('echo_counter');
  const { id } = await question(stage.hub);
  const approvals = await stage.hub.approvals.opened();
  const [first, second] = await Promise.allSettled([approvals.approve(id, ann), approvals.deny(id, bob, {})]);
  expect(first).toMatchObject({ status: 'fulfilled' });
  expect(second).toMatchObject({ reason: { code: 'APPROVAL_DECIDED', message: expect.stringContaining('by ann') } });
  expect(textOf(await held.result)).toContain('1');
});

test(verifies('approvals:once', 'of equal calls that wait together one runs, and the others ask again'), async () => {
  const stage = await askingStage();
  const calls = Array.from({ length: 5 }, () => stage.begin('echo_counter'));
  const { id } = await question(stage.hub);
  const approvals = await stage.hub.approvals.opened();
  await approvals.approve(id, ann);
  expect(textOf(await Promise.race(calls.map(({ result }) => result)))).toContain('1');
  await untilState(stage.hub, id, 'spent');
  await openQuestions(stage.hub, 1);
  expect(calls.filter(({ call }) => call.state === 'held')).toHaveLength(4);
  expect((await stage.ledger()).filter(({ outcome }) => outcome === 'ok')).toHaveLength(1);
});

function withEnv(config: ReturnType<typeof askingConfig>, token: string): ReturnType<typeof askingConfig> {
  return { ...config, servers: { echo: { ...config.servers.echo, env: { TOKEN: token } } } };
}
