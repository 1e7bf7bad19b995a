import { PassThrough } from 'node:stream';
import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { within } from '../../../test/support/within.ts';
import { createSilentLogger, isJsonObject } from '../../base/index.ts';
import { defineTool, type ServedTool, serveTools, ToolFault } from './index.ts';

const hints = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false };

const echo = defineTool({
  name: 'echo',
  title: 'Echo',
  description: 'Says it again.',
  annotations: hints,
  input: z.strictObject({ text: z.string(), times: z.int().min(1).default(1) }),
  run: async ({ text, times }) => ({ text: text.repeat(times), structured: { times } }),
});

const fail = defineTool({
  name: 'fail',
  title: 'Fail',
  description: 'Cannot.',
  annotations: hints,
  input: z.strictObject({ defect: z.boolean().optional() }),
  async run({ defect }) {
    throw defect === true ? new Error('a defect') : new ToolFault('There is no such page. Try another.');
  },
});

/** A server of these tools, and its client's end of the pipes. */
function open(tools: readonly ServedTool[] = [echo, fail]) {
  const input = new PassThrough();
  const output = new PassThrough();
  const served = { name: 'sample', title: 'Sample', version: '1.2.3', instructions: 'Ask.', tools };
  const serving = serveTools({ input, output, logger: createSilentLogger() }, served);
  onTestFinished(() => serving.close());
  const waiting: ((line: unknown) => void)[] = [];
  const lines: unknown[] = [];
  let rest = '';
  output.on('data', (chunk: Buffer) => {
    const parts = (rest + chunk.toString()).split('\n');
    rest = parts.pop() ?? '';
    for (const part of parts) {
      const line: unknown = JSON.parse(part);
      const next = waiting.shift();
      if (next === undefined) lines.push(line);
      else next(line);
    }
  });
  const read = (): Promise<unknown> =>
    lines.length > 0 ? Promise.resolve(lines.shift()) : new Promise((resolve) => waiting.push(resolve));
  const say = (message: unknown): void =>
    void input.write(`${typeof message === 'string' ? message : JSON.stringify(message)}\n`);
  let id = 0;
  return {
    input,
    serving,
    say,
    read: () => within(read(), 'an answer'),
    unread: lines,
    ask(method: string, params: object = {}): Promise<unknown> {
      say({ jsonrpc: '2.0', id: ++id, method, params });
      return within(read(), `the answer to ${method}`);
    },
  };
}

const modern = {
  _meta: {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': {},
    'io.modelcontextprotocol/clientInfo': { name: 't', version: '1' },
  },
};

test('a legacy client greets, lists and calls', async () => {
  const { ask } = open();
  expect(await ask('initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: {} })).toMatchObject({
    result: {
      protocolVersion: '2025-06-18',
      capabilities: { tools: {} },
      serverInfo: { name: 'sample', version: '1.2.3' },
      instructions: 'Ask.',
    },
  });
  expect(await ask('ping')).toMatchObject({ result: {} });
  expect(await ask('tools/list')).toEqual({
    jsonrpc: '2.0',
    id: 3,
    result: {
      tools: [
        {
          name: 'echo',
          title: 'Echo',
          description: 'Says it again.',
          inputSchema: {
            type: 'object',
            properties: {
              text: { type: 'string' },
              times: { default: 1, type: 'integer', minimum: 1, maximum: 9007199254740991 },
            },
            required: ['text'],
            additionalProperties: false,
          },
          annotations: hints,
        },
        expect.objectContaining({ name: 'fail' }),
      ],
    },
  });
  expect(await ask('tools/call', { name: 'echo', arguments: { text: 'ab', times: 2 } })).toEqual({
    jsonrpc: '2.0',
    id: 4,
    result: { content: [{ type: 'text', text: 'abab' }], structuredContent: { times: 2 } },
  });
});

test('a modern client needs no greeting; results say that they are whole, whose, and how long they hold', async () => {
  const { ask } = open();
  const whose = { 'io.modelcontextprotocol/serverInfo': { name: 'sample', title: 'Sample', version: '1.2.3' } };
  expect(await ask('server/discover', modern)).toMatchObject({
    result: {
      resultType: 'complete',
      supportedVersions: ['2026-07-28'],
      capabilities: { tools: {} },
      cacheScope: 'public',
      _meta: whose,
    },
  });
  expect(await ask('tools/list', modern)).toMatchObject({ result: { resultType: 'complete', ttlMs: 3_600_000 } });
  expect(await ask('tools/call', { ...modern, name: 'echo', arguments: { text: 'x' } })).toMatchObject({
    result: { resultType: 'complete', content: [{ text: 'x' }], _meta: whose },
  });
});

test('tool errors and invalid arguments are returned for the model to read', async () => {
  const { ask } = open();
  expect(await ask('tools/call', { name: 'fail', arguments: {} })).toMatchObject({
    result: { isError: true, content: [{ text: 'There is no such page. Try another.' }] },
  });
  const answer = await ask('tools/call', { name: 'echo', arguments: { text: 'x', times: 0 } });
  expect(answer).toMatchObject({ result: { isError: true, content: [{ text: expect.stringContaining('"times"') }] } });
  expect(await ask('tools/call', { name: 'echo', arguments: { text: 'x', more: 1 } })).toMatchObject({
    result: { isError: true, content: [{ text: expect.stringContaining('more') }] },
  });
  expect(await ask('tools/call', { name: 'echo' })).toMatchObject({ result: { isError: true } });
});

test('a tool that is not there, a method that is not there and a defect are errors of the protocol', async () => {
  const { ask } = open();
  expect(await ask('tools/call', { name: 'gone' })).toMatchObject({ error: { code: -32602 } });
  expect(await ask('resources/list')).toMatchObject({ error: { code: -32601 } });
  const defect = await ask('tools/call', { name: 'fail', arguments: { defect: true } });
  expect(defect).toMatchObject({ error: { code: -32603 } });
  expect(JSON.stringify(defect)).not.toContain('a defect');
});

test('garbage is answered, and what follows it too', async () => {
  const { say, read, ask } = open();
  for (const text of ['{', '[]', '1', '{"jsonrpc":"1.0"}', '{"jsonrpc":"2.0","id":1,"method":"ping","method":"x"}']) {
    say(text);
    const answer = await read();
    if (!isJsonObject(answer)) throw new Error('no object');
    expect(answer.error, text).toMatchObject({ code: expect.any(Number) });
  }
  expect(await ask('ping')).toMatchObject({ result: {} });
});

test('only the revision that has batches gets them', async () => {
  const { say, read, ask } = open();
  const batch = [1, 2].map((id) => ({ jsonrpc: '2.0', id, method: 'ping' }));
  say(batch);
  expect(await read()).toMatchObject({ error: { code: -32600 } });
  await ask('initialize', { protocolVersion: '2025-03-26' });
  say(batch);
  expect(await read()).toMatchObject([{ id: 1 }, { id: 2 }]);
});

test('a cancelled call is told so, and has no answer', async () => {
  let aborted = false;
  const slow = defineTool({
    ...echo,
    name: 'slow',
    input: z.strictObject({}),
    run: (_args, { signal }) =>
      new Promise((resolve) => {
        signal.addEventListener('abort', () => {
          aborted = true;
          resolve({ text: 'too late' });
        });
      }),
  });
  const { say, ask, unread } = open([slow]);
  say({ jsonrpc: '2.0', id: 'a', method: 'tools/call', params: { name: 'slow' } });
  say({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'a' } });
  await ask('ping');
  expect(aborted).toBe(true);
  expect(unread).toEqual([]);
});

test('after the last request its answer still comes, and then it ends', async () => {
  let finish = (): void => {};
  const slow = defineTool({
    ...echo,
    name: 'slow',
    input: z.strictObject({}),
    run: () =>
      new Promise((resolve) => {
        finish = () => resolve({ text: 'done' });
      }),
  });
  const { say, read, input, serving } = open([slow]);
  say({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'slow' } });
  input.end();
  await new Promise((resolve) => setImmediate(resolve));
  finish();
  expect(await read()).toMatchObject({ result: { content: [{ text: 'done' }] } });
  await within(serving.ended, 'the end');
});

test('the largest request that a hub takes by default ends nothing; one that never ends does', async () => {
  const { ask, say, read, input, serving } = open();
  const text = 'x'.repeat(4 * 1024 * 1024);
  const answer = await ask('tools/call', { name: 'echo', arguments: { text, times: 0 } });
  expect(answer).toMatchObject({ result: { isError: true } });
  expect(await ask('ping')).toMatchObject({ result: {} });
  const part = Buffer.alloc(1024 * 1024, 'x');
  for (let megabytes = 0; megabytes <= 64; megabytes++) input.write(part);
  say('');
  expect(await read()).toMatchObject({ error: { data: { code: 'REQUEST_TOO_LARGE' } } });
  await within(serving.ended, 'the end');
});
