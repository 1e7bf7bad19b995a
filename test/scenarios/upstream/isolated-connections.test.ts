import { expect, test } from 'vitest';
import { type CallRequest, type CallResult, ResourceSubscription } from '../../../src/calls/index.ts';
import { clientCapabilitiesOf } from '../../../src/mcp/index.ts';
import { codeOf, openStage, type Stage, stdioServer, textOf } from '../../support/hub.ts';
import { eventually, within } from '../../support/within.ts';

/** A server of which each client session has a connection of its own. */
function isolated(limits: object = {}): object {
  return stdioServer('matrix.mjs', ['--era', 'legacy', '--label', 'up', '--stdio'], {
    isolation: 'per-session',
    limits,
  });
}

async function begin(limits?: object): Promise<Stage> {
  const stage = await openStage();
  await stage.start({ servers: { up: isolated(limits) } });
  await stage.hub.discover();
  return stage;
}

function start({ hub }: Stage, session: string, more: Partial<CallRequest> = {}): ReturnType<Stage['begin']> {
  const args = { nonce: session };
  return hub.call({
    kind: 'tool',
    caller: hub.callerFor({ agent: 'tester' }),
    name: 'up_echo',
    argumentsText: JSON.stringify(args),
    args,
    meta: '',
    client: { principal: 'p', session, clientCapabilities: clientCapabilitiesOf({}), takesInputRequired: false },
    channel: undefined,
    ...more,
  });
}

function echo(stage: Stage, session: string): Promise<CallResult> {
  return start(stage, session).result;
}

/** A call that runs until it is cancelled; resolves when the server has it. */
async function hang(stage: Stage, session: string): Promise<ReturnType<Stage['begin']>> {
  let began: () => void = () => {};
  const beginning = new Promise<void>((resolve) => {
    began = resolve;
  });
  const started = start(stage, session, { name: 'up_hang', channel: { progress: began } });
  await within(beginning, 'the call to run');
  return started;
}

function childrenToBe(stage: Stage, count: number): Promise<true> {
  return eventually(() => stage.children().length === count || undefined, `${count} processes`);
}

test('each session has a process of its own, which ends with it', async () => {
  const stage = await begin();
  expect(await Promise.all(['a', 'b', 'a'].map(async (session) => textOf(await echo(stage, session))))).toEqual([
    'up:a',
    'up:b',
    'up:a',
  ]);
  expect(stage.children()).toHaveLength(3);
  stage.hub.clients.end('a');
  await childrenToBe(stage, 2);
  expect(stage.status('up').state).toBe('connected');
});

test('a session that ends while its connection opens, or while it is used, ends with its last call', async () => {
  const stage = await begin();
  const early = echo(stage, 'early');
  stage.hub.clients.end('early');
  expect(textOf(await early)).toBe('up:early');
  await childrenToBe(stage, 1);
  const { call, result } = await hang(stage, 'late');
  stage.hub.clients.end('late');
  expect(stage.children()).toHaveLength(2);
  call.cancel('enough');
  expect(codeOf(await result)).toBe('CANCELLED');
  await childrenToBe(stage, 1);
});

test('a lost connection of a client is not opened again before it is needed', async () => {
  const stage = await begin();
  const own = stage.children();
  await echo(stage, 'a');
  const [isolated] = stage.children().filter((pid) => !own.includes(pid));
  process.kill(Number(isolated), 'SIGKILL');
  await childrenToBe(stage, 1);
  expect(stage.children()).toEqual(own);
  expect(stage.status('up').state).toBe('connected');
  expect(textOf(await echo(stage, 'a'))).toBe('up:a');
});

test('a subscription over a lost connection continues without another request', async () => {
  const stage = await begin();
  const own = stage.children();
  const heard: string[] = [];
  const watch = new ResourceSubscription((uri) => heard.push(uri) > 0);
  const uri = 'memo://up/note';
  const subscription = { kind: 'subscription', name: uri, argumentsText: `{"uri":"${uri}"}`, args: { uri } } as const;
  const { result } = start(stage, 'a', { ...subscription, subscription: watch });
  expect(await result).toMatchObject({ kind: 'result' });
  const [isolated] = stage.children().filter((pid) => !own.includes(pid));
  process.kill(Number(isolated), 'SIGKILL');
  await eventually(() => heard.length > 0 || undefined, 'word of what may have changed meanwhile');
  const before = heard.length;
  const touch = { name: 'up_touch', argumentsText: `{"nonce":"1","uri":"${uri}"}`, args: { nonce: '1', uri } };
  expect(textOf(await start(stage, 'a', touch).result)).toBe('up:1');
  await eventually(() => heard.length > before || undefined, 'word of a change');
  expect(new Set(heard)).toEqual(new Set([uri]));
  watch.end();
  stage.hub.clients.end('a');
  await childrenToBe(stage, 1);
});

test('changed limits reach connections that are open', async () => {
  const stage = await begin();
  const { call, result } = await hang(stage, 'a');
  await stage.configure({ servers: { up: isolated({ concurrency: 1 }) } });
  await stage.hub.reload();
  expect(codeOf(await echo(stage, 'a'))).toBe('OVERLOADED');
  call.cancel('enough');
  await result;
  expect(textOf(await echo(stage, 'a'))).toBe('up:a');
});

test('a server that is removed while a client uses its own connection finishes the call first', async () => {
  const stage = await begin();
  const { call, result } = await hang(stage, 'a');
  await stage.configure({ servers: {} });
  await stage.hub.reload();
  expect(codeOf(await echo(stage, 'a'))).toBe('TOOL_UNKNOWN');
  expect(stage.children().length).toBeGreaterThan(0);
  call.cancel('enough');
  expect(codeOf(await result)).toBe('CANCELLED');
  await childrenToBe(stage, 0);
});

test('a hub that stops while a connection opens leaves nothing', async () => {
  const stage = await begin();
  const opening = echo(stage, 'a');
  await stage.stop();
  expect(['UPSTREAM_UNAVAILABLE', 'CANCELLED', '{"content":[{"type":"text","text":"up:a"}]}']).toContain(
    codeOf(await opening),
  );
});

test('the limit on calls in flight holds for all sessions together', async () => {
  const stage = await begin({ concurrency: 2 });
  const running = [await hang(stage, 'a'), await hang(stage, 'b')];
  expect(codeOf(await echo(stage, 'c'))).toBe('OVERLOADED');
  for (const { call } of running) call.cancel('enough');
  await Promise.all(running.map(({ result }) => result));
  expect(textOf(await echo(stage, 'c'))).toBe('up:c');
});
