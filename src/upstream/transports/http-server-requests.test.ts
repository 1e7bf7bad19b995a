import { expect, onTestFinished, test } from 'vitest';
import { createMovingClock } from '../../../test/support/moving-clock.ts';
import { eventually, within } from '../../../test/support/within.ts';
import { createSilentLogger, HubError } from '../../base/index.ts';
import { type ClientResponse, unanswered } from '../../mcp/index.ts';
import { handlers } from '../request-handlers.fixture.ts';
import { controlRequest, type RequestHandlers, type UpstreamRequest } from '../transport.ts';
import { type HttpServer, openStream, sendJsonReply, serveHttp } from './http-server.fixture.ts';
import { createHttpTransport } from './http-transport.ts';

const accepted: ClientResponse = { kind: 'result', text: '{"action":"accept"}' };

async function open(server: HttpServer, exclusive = false) {
  const clock = createMovingClock();
  const events = { onNotification() {}, onLost() {}, onRefused() {} };
  const transport = await createHttpTransport(
    { clock, logger: createSilentLogger(), events },
    { server: 'files', exclusive, spec: { type: 'http', url: server.url, headers: {} } },
  );
  onTestFinished(() => within(transport.close(), 'the transport to close'));
  return { clock, transport };
}

/** Sends so many requests at once before it answers a call; takes answers as the test says. */
async function serveQuestions(count: number, method = 'elicitation/create', take = true) {
  const answers: Readonly<Record<string, unknown>>[] = [];
  let finish: () => void = () => {};
  const server = await serveHttp(({ message, response }) => {
    if (message.method !== 'tools/call') {
      answers.push(message);
      if (take) response.writeHead(202).end();
      return;
    }
    const stream = openStream(response);
    for (let id = 0; id < count; id++) stream.send({ jsonrpc: '2.0', id, method, params: { message: `${id}` } });
    finish = () => {
      stream.send({ jsonrpc: '2.0', id: message.id, result: { content: [] } });
      stream.end();
    };
  });
  return { server, answers, finish: () => finish() };
}

function callOf(parts: Partial<RequestHandlers>): UpstreamRequest {
  return { ...controlRequest('tools/call', { name: 'ask' }, 5000), handlers: handlers(parts) };
}

test('while a server waits for an answer, no time passes for the call', async () => {
  const { server, answers, finish } = await serveQuestions(1);
  const { clock, transport } = await open(server);
  let settle: (answer: ClientResponse) => void = () => {};
  let asked = 0;
  const ask = (): Promise<ClientResponse> => {
    asked++;
    return new Promise((resolve) => (settle = resolve));
  };
  const { reply } = transport.request(callOf({ ask }));
  await eventually(() => asked === 1 || undefined, 'the question');
  clock.advance(3_600_000);
  settle(accepted);
  await eventually(() => answers.length === 1 || undefined, 'the answer to be taken');
  expect(answers).toEqual([{ jsonrpc: '2.0', id: 0, result: { action: 'accept' } }]);
  finish();
  expect(await reply).toMatchObject({ kind: 'result' });
});

test('after the answer time passes again', async () => {
  const { server, answers } = await serveQuestions(1);
  const { clock, transport } = await open(server);
  const { reply } = transport.request(callOf({ ask: async () => accepted }));
  await eventually(() => answers.length === 1 || undefined, 'the answer to be taken');
  clock.advance(5000);
  expect(await reply).toMatchObject({ kind: 'failed', error: { code: 'UPSTREAM_TIMEOUT' } });
});

test('an answer that comes when the call was given up and the connection is closed harms nobody', async () => {
  const { server } = await serveQuestions(3);
  const { clock, transport } = await open(server);
  const settle: ((answer: ClientResponse) => void)[] = [];
  const call = transport.request(callOf({ ask: () => new Promise((resolve) => settle.push(resolve)) }));
  await eventually(() => settle.length === 3 || undefined, 'the questions');
  call.cancel(new HubError('CANCELLED', 'enough'));
  expect(await call.reply).toMatchObject({ kind: 'failed', error: { code: 'CANCELLED' } });
  settle[0]?.(accepted);
  await within(transport.close(), 'the transport to close');
  for (const each of settle) each({ kind: 'error', text: '{"code":-32603,"message":"gone"}' });
  await eventually(() => clock.waiting === 0 || undefined, 'no timer to be left');
});

test('a server that asks without end and takes no answers gets few of them, and blocks nothing', async () => {
  const { server, answers, finish } = await serveQuestions(10_000, 'ping', false);
  const { clock, transport } = await open(server);
  const { reply } = transport.request({ ...callOf({}), timeoutMs: 120_000, maxMs: 120_000 });
  await eventually(() => answers.length >= 64 || undefined, 'answers');
  finish();
  expect(await reply).toMatchObject({ kind: 'result' });
  expect(answers).toHaveLength(64);
  expect(answers[0]).toEqual({ jsonrpc: '2.0', id: 0, result: {} });
  clock.advance(10_000);
  await eventually(() => clock.waiting === 0 || undefined, 'answers to be given up');
});

test('a client without the capability gets no server request', async () => {
  const { server, answers, finish } = await serveQuestions(2, 'sampling/createMessage');
  const { transport } = await open(server);
  const { reply } = transport.request(controlRequest('tools/call', { name: 'ask' }, 5000));
  await eventually(() => answers.length === 2 || undefined, 'answers');
  expect(answers).toMatchObject([{ error: { code: -32601 } }, { error: { code: -32601 } }]);
  finish();
  expect(await reply).toMatchObject({ kind: 'result' });
});

test('a question beside the calls outlives one that ends first: another call of that client has asked', async () => {
  const answers: unknown[] = [];
  const calls: { answer(): void }[] = [];
  let beside: ReturnType<typeof openStream> | undefined;
  const server = await serveHttp(({ request, message, response }) => {
    if (request.method === 'GET') beside = openStream(response);
    else if (message.method === 'tools/call') {
      calls.push({
        answer: () => sendJsonReply(response, 200, { jsonrpc: '2.0', id: message.id, result: { content: [] } }),
      });
    } else {
      answers.push(message);
      response.writeHead(202).end();
    }
  });
  const { transport } = await open(server, true);
  await within(Promise.resolve(transport.openChangeStream()), 'the stream beside the calls');
  const owner = {};
  const asked: string[] = [];
  const withdraw = new Map<string, (answer: ClientResponse) => void>();
  const start = (name: string) => {
    const ask = (): Promise<ClientResponse> => {
      asked.push(name);
      return new Promise((resolve) => withdraw.set(name, resolve));
    };
    return transport.request(callOf({ owner, ask })).reply;
  };
  const slow = start('slow');
  await eventually(() => calls.length === 1 || undefined, 'the first call');
  const quick = start('quick');
  await eventually(() => calls.length === 2 || undefined, 'the second call');
  beside?.send({ jsonrpc: '2.0', id: 'q', method: 'elicitation/create', params: { message: 'Who?' } });
  await eventually(() => asked.length === 1 || undefined, 'the question');
  expect(asked).toEqual(['quick']);
  calls[1]?.answer();
  await within(quick, 'the quick answer');
  withdraw.get('quick')?.(unanswered('The call has ended'));
  await eventually(() => asked.length === 2 || undefined, 'the question again');
  withdraw.get('slow')?.(accepted);
  await eventually(() => answers.length === 1 || undefined, 'the answer at the server');
  expect(answers).toEqual([{ jsonrpc: '2.0', id: 'q', result: { action: 'accept' } }]);
  calls[0]?.answer();
  expect(await within(slow, 'the slow answer')).toMatchObject({ kind: 'result' });
});
