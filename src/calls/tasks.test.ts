import { expect, test } from 'vitest';
import { verifies } from '../../test/support/verifies.ts';
import { draftConfiguration } from '../governance/policy/configuration.fixture.ts';
import { clientCapabilitiesOf, declaresTasks, noClientCapabilities } from '../mcp/index.ts';
import type { CallRequest, CallResult } from './call.ts';
import { type CallStage, openCallStage } from './call-stage.fixture.ts';
import { catalogOf, scriptedResult } from './scripted-server.fixture.ts';

const client = {
  principal: 'p',
  session: undefined,
  clientCapabilities: noClientCapabilities,
  takesInputRequired: true,
  takesTasks: true,
};
const denyWrite = { policy: { 'files.write': 'deny' } } as const;
const task = '{"taskId":"task-1", "resultType":"task","status":"working","ttlMs":1e3}';

/** The server makes tasks of calls, unless it is said not to. */
async function open(tasks = true): Promise<CallStage> {
  const stage = await openCallStage();
  const catalog = catalogOf([
    { name: 'write', inputSchema: { type: 'object' } },
    { name: 'ask', inputSchema: { type: 'object' } },
  ]);
  stage.files.catalog = { ...catalog, abilities: { ...catalog.abilities, tasks } };
  stage.views.renew(stage.source);
  return stage;
}

function run(stage: CallStage, reply: string, more: Partial<CallRequest> = {}): Promise<CallResult> {
  stage.files.replies = [() => scriptedResult(reply)];
  return stage.run(stage.call(more.name ?? 'files_write', { client, ...more }));
}

function idOf(result: CallResult): string {
  if (result.kind !== 'result') throw new Error(JSON.stringify(result));
  return String(result.result.value.taskId);
}

test(verifies('tasks:relay', 'only the id of a task is changed in the answers of a server'), async () => {
  const stage = await open();
  const made = await run(stage, task);
  const id = idOf(made);
  const text = `{ "resultType":"complete","taskId":"another's", "status":"completed","result":{"n":1.0,"taskId":"x"}}`;
  const got = await run(stage, text, { kind: 'task-get', name: id });
  expect([made, got].map((each) => each.kind === 'result' && each.result.text)).toEqual([
    `{"resultType":"task","status":"working","ttlMs":1e3,"taskId":"${id}"}`,
    `{"resultType":"complete","status":"completed","result":{"n":1.0,"taskId":"x"},"taskId":"${id}"}`,
  ]);
  expect(stage.files.sent.map(({ method, members, name }) => [method, members, name])).toEqual([
    ['tools/call', '"name":"write","arguments":{}', 'write'],
    ['tasks/get', '"taskId":"task-1"', 'task-1'],
  ]);
  expect(stage.files.sent.every(({ capabilities }) => declaresTasks(JSON.parse(capabilities)))).toBe(true);
  expect(stage.metered.map(({ outcome }) => outcome)).toEqual(['task', 'ok']);
});

test('responses to a task go to the server unchanged and not to the ledger', async () => {
  const stage = await open();
  const name = idOf(await run(stage, task));
  const inputs = '"inputResponses":{"a": {"action":"accept"}}';
  await run(stage, '{"resultType":"complete"}', { kind: 'task-update', name, inputs });
  expect(stage.files.sent[1]?.members).toBe(`"taskId":"task-1",${inputs}`);
  expect(stage.journal()).not.toContain('accept');
});

test(verifies('tasks:refused', 'a task that nobody asked for is no answer'), async () => {
  const refused = { kind: 'failed', error: { code: 'UPSTREAM_GARBLED' } };
  const stage = await open();
  expect(await run(stage, task, { client: { ...client, takesTasks: false } })).toMatchObject(refused);
  expect(await run(stage, task, { client: undefined })).toMatchObject(refused);
  expect(stage.files.sent.map(({ capabilities }) => capabilities)).toEqual(['{}', '{}']);
  const without = await open(false);
  expect(await run(without, task)).toMatchObject(refused);
  expect(without.files.sent.map(({ capabilities }) => capabilities)).toEqual(['{}']);
  const name = idOf(await run(stage, task));
  expect(await run(stage, task, { kind: 'task-get', name })).toMatchObject(refused);
  for (const id of ['1', 'null', `"${'x'.repeat(5000)}"`]) {
    expect(await run(stage, `{"resultType":"task","taskId":${id}}`), id.slice(0, 9)).toMatchObject(refused);
  }
  expect(await run(stage, '{"resultType":"task"}')).toMatchObject(refused);
  expect(new Set((await stage.lines()).map(({ outcome }) => outcome))).toEqual(new Set(['upstream_error', 'task']));
});

test('the capabilities of the client are declared beside the extension', async () => {
  const stage = await open();
  await run(stage, task, {
    client: { ...client, clientCapabilities: clientCapabilitiesOf({ sampling: {}, extensions: { other: {} } }) },
  });
  expect(JSON.parse(stage.files.sent[0]?.capabilities ?? '')).toEqual({
    sampling: {},
    extensions: { 'io.modelcontextprotocol/tasks': {} },
  });
});

test(verifies('tasks:own', 'without the principal, or the tool, there is no task'), async () => {
  const stage = await open();
  const name = idOf(await run(stage, task));
  const unknown = { kind: 'failed', error: { code: 'TASK_UNKNOWN' } };
  for (const kind of ['task-get', 'task-update', 'task-cancel'] as const) {
    expect(await run(stage, '{}', { kind, name, client: undefined })).toMatchObject(unknown);
    expect(await run(stage, '{}', { kind, name, client: { ...client, principal: 'q' } })).toMatchObject(unknown);
    expect(await run(stage, '{}', { kind, name: 'task-1' })).toMatchObject(unknown);
  }
  expect(stage.files.sent).toHaveLength(1);
});

test(
  verifies('tasks:own', 'a task of a tool that is denied by now looks unknown, and is recorded as denied'),
  async () => {
    const stage = await open();
    const name = idOf(await run(stage, task));
    stage.views.renew({ ...stage.source, configuration: draftConfiguration({ ...denyWrite, servers: { files: {} } }) });
    const result = await run(stage, '{}', { kind: 'task-get', name });
    expect(result).toMatchObject({ kind: 'failed', error: { code: 'TASK_UNKNOWN' } });
    expect((await stage.lines()).at(-1)).toMatchObject({
      server: 'files',
      tool: 'task:write',
      method: 'tasks/get',
      outcome: 'denied',
      rule: 'files.write',
    });
  },
);
