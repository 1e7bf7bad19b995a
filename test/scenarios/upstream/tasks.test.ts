import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type HttpFixture, startHttpFixture } from '../../support/fixture-servers.ts';
import { echoServer, gatewayForTest, type RunningGateway, startGateway } from '../../support/gateway.ts';
import {
  legacyClient,
  type ModernClient,
  metaPrefix,
  modernClient,
  modernMeta,
  textOf,
} from '../../support/mcp-clients.ts';
import type { Answer, Result } from '../../support/mcp-http.ts';
import { verifies } from '../../support/verifies.ts';
import { eventually } from '../../support/within.ts';

/** Two servers whose tasks have the same ids, and agents that have both, or one. */
let left: HttpFixture;
let right: HttpFixture;
let hub: RunningGateway;
let ada: ModernClient;
let bob: ModernClient;

const extension = `${metaPrefix}tasks`;
const declared = {
  [`${metaPrefix}clientCapabilities`]: { elicitation: {}, extensions: { [extension]: {}, other: {} } },
};
const configured = (more: object = {}): { servers: Record<string, object>; [section: string]: unknown } => ({
  servers: { left: { url: left.url }, right: { url: right.url }, echo: echoServer },
  ...more,
});

beforeAll(async () => {
  [left, right] = await Promise.all([startHttpFixture('tasks.mjs'), startHttpFixture('tasks.mjs')]);
  hub = await startGateway(configured());
});

afterAll(async () => {
  await hub?.stop();
  await Promise.all([left?.stop(), right?.stop()]);
});

beforeEach(async () => {
  await Promise.all([left.restart(), right.restart()]);
  await hub.configure(configured());
  await hub.hub.reload();
  await hub.hub.discover();
  ada = modernClient(hub.url, await hub.token('ada'));
  bob = modernClient(hub.url, await hub.token('bob'));
});

function ofTask(client: ModernClient, method: string, taskId: string, more: object = {}): Promise<Answer> {
  return client.request(method, { taskId, ...more }, { meta: declared, headers: { 'mcp-name': taskId } });
}

async function begin(client: ModernClient, tool: string, args: object = {}): Promise<string> {
  const { message } = await client.call(tool, args, { meta: declared });
  expect(message.result).toMatchObject({ resultType: 'task', status: 'working', ttlMs: 60_000 });
  return String(message.result?.taskId);
}

async function settled(client: ModernClient, taskId: string): Promise<Result> {
  return eventually(async () => {
    const { result } = (await ofTask(client, 'tasks/get', taskId)).message;
    expect(result).toMatchObject({ resultType: 'complete', taskId });
    return result?.status === 'working' ? undefined : result;
  }, `the end of task ${taskId}`);
}

test(verifies('tasks:relay', 'tasks of two servers are told apart, though their own ids are the same'), async () => {
  const one = await begin(ada, 'left_slow_compute', { seconds: 0.05, label: 'one' });
  const two = await begin(ada, 'right_slow_compute', { seconds: 0.05, label: 'two' });
  expect(one).not.toBe(two);
  const end = { status: 'completed', result: { content: [{ text: 'computed one in 0.05 s' }] } };
  expect(await settled(ada, one)).toMatchObject(end);
  expect(JSON.stringify(await settled(ada, two))).toContain('computed two');
  expect(one).toMatch(/^[\w.-]{1,4096}$/);
});

test(verifies('tasks:relay', 'the questions of a task are answered, and a task is cancelled'), async () => {
  const asking = await begin(ada, 'left_confirm_delete', { filename: 'a.txt' });
  expect((await ofTask(ada, 'tasks/get', asking)).message.result).toMatchObject({
    status: 'input_required',
    inputRequests: { sure: { method: 'elicitation/create', params: { message: 'Delete a.txt?' } } },
  });
  const inputResponses = { sure: { action: 'accept', content: { confirm: true } } };
  const updated = (await ofTask(ada, 'tasks/update', asking, { inputResponses })).message.result;
  expect(updated).toMatchObject({ resultType: 'complete' });
  expect(updated).not.toHaveProperty('taskId');
  expect(JSON.stringify(await settled(ada, asking))).toContain('accept: a.txt');
  const long = await begin(ada, 'left_slow_compute', { seconds: 60 });
  expect((await ofTask(ada, 'tasks/cancel', long)).message.result).toMatchObject({ resultType: 'complete' });
  expect(await settled(ada, long)).toMatchObject({ status: 'cancelled' });
  const wrong = await ofTask(ada, 'tasks/update', long);
  expect([wrong.status, wrong.message.error?.code]).toEqual([400, -32602]);
});

test(verifies('tasks:own', "nobody gets another's task, and what was never given is as unknown"), async () => {
  const taskId = await begin(ada, 'left_slow_compute', { seconds: 60 });
  const again = modernClient(hub.url, await hub.token('ada'));
  for (const method of ['tasks/get', 'tasks/cancel']) {
    const others = [
      await ofTask(bob, method, taskId),
      await ofTask(again, method, taskId),
      await ofTask(bob, method, 'task-1'),
      await ofTask(ada, method, `${taskId.slice(0, -1)}${taskId.endsWith('A') ? 'B' : 'A'}`),
    ];
    for (const { message } of others) {
      expect(message.error).toEqual({ ...others[2]?.message.error, code: -32602 });
      expect(message.error?.data).toMatchObject({ code: 'TASK_UNKNOWN' });
    }
  }
  expect((await ofTask(ada, 'tasks/get', taskId)).message.result).toMatchObject({ status: 'working' });
});

test(
  verifies('tasks:own', 'a rule that takes the tool takes its tasks; one that asks, asks for them too'),
  async () => {
    const taskId = await begin(ada, 'left_slow_compute', { seconds: 60 });
    const rule = async (effect: string): Promise<Answer> => {
      await hub.configure(
        configured({ policies: { tools: { 'left.slow_compute': effect } }, approvals: { wait: '0s' } }),
      );
      await hub.hub.reload();
      return ofTask(ada, 'tasks/get', taskId);
    };
    expect((await rule('deny')).message.error).toMatchObject({ code: -32602, data: { code: 'TASK_UNKNOWN' } });
    expect((await rule('require-approval')).message.error).toMatchObject({ data: { code: 'APPROVAL_REQUIRED' } });
    await hub.configure(configured({ agents: { ada: { servers: ['right'] } } }));
    await hub.hub.reload();
    expect((await ofTask(ada, 'tasks/get', taskId)).message.error).toMatchObject({ data: { code: 'TASK_UNKNOWN' } });
    expect((await rule('allow')).message.result).toMatchObject({ status: 'working', taskId });
  },
);

test(verifies('tasks:refused', 'only the extension is passed on, and only to servers that have it'), async () => {
  const { message } = await ada.call('left_capabilities', {}, { meta: declared });
  expect(JSON.parse(textOf(message) ?? '')).toEqual({ elicitation: {}, extensions: { [extension]: {} } });
  const without = { [`${metaPrefix}clientCapabilities`]: { elicitation: {}, extensions: { other: {} } } };
  const plain = await ada.call('left_capabilities', {}, { meta: without });
  expect(JSON.parse(textOf(plain.message) ?? '')).toEqual({ elicitation: {} });
  const legacy = await legacyClient(hub.url, await hub.token('ada'));
  expect(JSON.parse(textOf((await legacy.call('left_capabilities')).message) ?? '')).toEqual({});
  expect(textOf((await legacy.call('left_slow_compute', { seconds: 0 })).message)).toContain('computed');
  for (const method of ['tasks/get', 'tasks/update', 'tasks/cancel', 'tasks/result', 'tasks/list']) {
    const answer = await legacy.request(method, { taskId: 'task-1', inputResponses: {} });
    expect(answer.message.error?.code, method).toBe(-32601);
  }
  await legacy.remove();
});

test(
  verifies('tasks:refused', 'an extension that is not declared or not advertised is refused with its own code'),
  async () => {
    const undeclared = await ada.request('tasks/get', { taskId: 'x' }, { headers: { 'mcp-name': 'x' } });
    expect([undeclared.status, undeclared.message.error]).toMatchObject([
      400,
      { code: -32021, data: { requiredCapabilities: { extensions: { [extension]: {} } } } },
    ]);
    const discovered = await ada.request('server/discover');
    expect(discovered.message.result).toMatchObject({ capabilities: { extensions: { [extension]: {} } } });
    const bare = await gatewayForTest();
    const client = modernClient(bare.url, await bare.token());
    const { result } = (await client.request('server/discover')).message;
    expect(result?.capabilities).not.toHaveProperty(['extensions', extension]);
    for (const meta of [{}, declared]) {
      const answer = await client.request('tasks/get', { taskId: 'x' }, { meta, headers: { 'mcp-name': 'x' } });
      expect([answer.status, answer.message.error?.code]).toEqual([404, -32601]);
    }
  },
);

test(verifies('tasks:ledger', 'a call that became a task and what is done with it are on the ledger'), async () => {
  const token = await hub.token('ada');
  const client = modernClient(hub.url, token);
  const headers = { 'x-quartermaster-run': 'tasks-run' };
  const { message } = await client.call('left_slow_compute', { seconds: 60 }, { meta: declared, headers });
  const taskId = String(message.result?.taskId);
  const inputResponses = { sure: { action: 'accept', content: { name: 'private' } } };
  for (const method of ['tasks/get', 'tasks/update', 'tasks/cancel']) {
    const extra = { meta: declared, headers: { ...headers, 'mcp-name': taskId } };
    await client.request(method, { taskId, ...(method === 'tasks/update' ? { inputResponses } : {}) }, extra);
  }
  await client.request('tasks/get', { taskId: 'x' }, { meta: declared, headers: { ...headers, 'mcp-name': 'x' } });
  const lines = await eventually(async () => {
    const mine = (await hub.calls(1)).filter(({ run_id }) => run_id === 'tasks-run');
    return mine.length === 5 ? mine : undefined;
  }, 'five calls of the run');
  expect(lines.map(({ server, tool, method, outcome, status }) => [server, tool, method, outcome, status])).toEqual([
    ['left', 'slow_compute', undefined, 'task', 'ok'],
    ['left', 'task:slow_compute', 'tasks/get', 'ok', 'ok'],
    ['left', 'task:slow_compute', 'tasks/update', 'ok', 'ok'],
    ['left', 'task:slow_compute', 'tasks/cancel', 'ok', 'ok'],
    [null, 'task:x', 'tasks/get', 'unknown_tool', 'error'],
  ]);
  expect(JSON.stringify(lines)).not.toContain('private');
});

/** What is used of the extension's own client. */
interface TaskClientModule {
  withTasks(port: object, options: object): TaskSession;
}

interface TaskSession {
  callTool(name: string, args: object): Promise<TaskExecution>;
  resumeTask(reference: unknown): Promise<TaskExecution>;
  close(): Promise<void>;
}

interface TaskExecution {
  readonly kind: 'immediate' | 'task';
  settle(): Promise<{ readonly outcome: { readonly status: string; readonly result?: Result } }>;
  handoff(keep: (reference: unknown) => void): Promise<void>;
}

test(
  verifies('tasks:relay', "the extension's own client calls, is asked, and goes on with a task of before"),
  async () => {
    const path = '../../programs/node_modules/@modelcontextprotocol/ext-tasks/dist/client/index.js';
    const module = (await import(new URL(path, import.meta.url).href)) as TaskClientModule; // as its declarations say
    const open = (): TaskSession =>
      module.withTasks(portTo(ada), { onInputRequest: async () => ({ action: 'decline' }) });
    const session = open();
    const asking = await session.callTool('left_confirm_delete', { filename: 'b.txt' });
    expect((await asking.settle()).outcome).toMatchObject({ result: { content: [{ text: 'decline: b.txt' }] } });
    expect((await session.callTool('left_greet', { name: 'you' })).kind).toBe('immediate');
    const long = await session.callTool('right_slow_compute', { seconds: 0.3, label: 'all' });
    let reference: unknown;
    await long.handoff((given) => {
      reference = given;
    });
    const later = open();
    const { outcome } = await (await later.resumeTask(reference)).settle();
    expect(outcome).toMatchObject({ status: 'completed', result: { content: [{ text: 'computed all in 0.3 s' }] } });
    await Promise.all([session.close(), later.close()]);
  },
);

function portTo(client: ModernClient): object {
  const nothing = () => () => {};
  return {
    endpointId: 'hub',
    taskCapabilities: { generation: 'v2', capabilities: {} },
    invalidated: false,
    onServerRequest: nothing,
    onNotification: nothing,
    onInvalidated: nothing,
    async dispatch({ method, params }: { method: string; params: { taskId?: string } }) {
      const headers = params.taskId === undefined ? {} : { 'mcp-name': params.taskId };
      const { result, error } = (await client.request(method, { ...params, _meta: modernMeta(declared) }, { headers }))
        .message;
      return error === undefined ? { kind: 'result', result } : { kind: 'error', error };
    },
  };
}
