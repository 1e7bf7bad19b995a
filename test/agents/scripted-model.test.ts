import { expect, onTestFinished, test } from 'vitest';
import { messagesOf } from '../support/mcp-http.ts';
import { type Script, startModel } from './models/scripted-model.mjs';
import { visitTools } from './scripts.mjs';

const plan = { wanted: ['late_echo'], meanwhile: ['status'], rounds: 2, pauseMs: 0 };

/** How a client of each dialect offers a tool, hands in its result, and finds a call or a text in what comes back. */
const dialects = [
  {
    name: "Anthropic's messages",
    path: '/v1/messages?beta=true',
    body: (tools: string[], results: string[]) => ({
      tools: tools.map((name) => ({ name })),
      messages: [
        { role: 'user', content: 'Go' },
        ...results.map((text) => ({
          role: 'user',
          content: [{ type: 'tool_result', content: [{ type: 'text', text }] }],
        })),
      ],
    }),
    call: ['"type":"tool_use"', '"name":"mcp__hub__late_echo"', String.raw`{\"message\":\"late_echo\"}`],
  },
  {
    name: "OpenAI's chat completions",
    path: '/v1/chat/completions',
    body: (tools: string[], results: string[]) => ({
      tools: tools.map((name) => ({ type: 'function', function: { name } })),
      messages: [{ role: 'user', content: 'Go' }, ...results.map((content) => ({ role: 'tool', content }))],
    }),
    call: ['"tool_calls":[', '"name":"mcp__hub__late_echo"', '"finish_reason":"tool_calls"'],
  },
  {
    name: "OpenAI's responses",
    path: '/v1/responses',
    body: (tools: string[], results: string[]) => ({
      tools: tools.map((name) => ({ type: 'namespace', name: 'mcp__hub', tools: [{ name }] })),
      input: results.map((output) => ({ type: 'function_call_output', output })),
    }),
    call: ['"type":"function_call"', '"name":"mcp__hub__late_echo"', '"namespace":"mcp__hub"'],
  },
  {
    name: "Gemini's content",
    path: '/v1beta/models/any:streamGenerateContent?alt=sse',
    body: (tools: string[], results: string[]) => ({
      tools: [{ functionDeclarations: tools.map((name) => ({ name })) }],
      contents: results.map((output) => ({ parts: [{ functionResponse: { response: { output } } }] })),
    }),
    call: ['"functionCall":{"name":"mcp__hub__late_echo"', '"args":{"message":"late_echo"}'],
  },
];

test.each(dialects)('the model calls what it is offered and repeats the result, in $name', async (dialect) => {
  const { model, ask } = await open(visitTools(plan));
  const tools = ['read', 'mcp__hub__late_echo'];
  const called = await ask(dialect.path, { ...dialect.body(tools, []), stream: true });
  for (const part of dialect.call) expect(called).toContain(part);
  expect(messagesOf(called.replace('data: [DONE]\n\n', '')).length).toBeGreaterThan(0);
  const said = await ask(dialect.path, { ...dialect.body(tools, ['it says late_echo']), stream: true });
  expect(said).toContain('All called: late_echo');
  expect(model.turns).toMatchObject([
    { tools, results: [] },
    { tools, results: ['it says late_echo'] },
  ]);
});

test.each(dialects.slice(0, 3))('a client that wants no stream gets JSON, in $name', async ({ path, body }) => {
  const { ask } = await open(visitTools(plan));
  expect(JSON.parse(await ask(path, body(['late_echo'], [])))).toBeTypeOf('object');
});

test('requests beside the conversation are answered and are no turns', async () => {
  const { model, ask } = await open(() => ({ say: 'never' }));
  expect(await ask('/v1/messages', { messages: [{ role: 'user', content: 'A title, please' }] })).toContain('A test');
  await ask('/v1/messages/count_tokens', {});
  expect(model.turns).toEqual([]);
  expect(model.others).toEqual(['POST /v1/messages/count_tokens']);
});

test('while a tool is not offered the model calls another, and gives up after its rounds', async () => {
  const script = visitTools(plan);
  const status = { name: 'hub-quartermaster_status' };
  const echo = { name: 'hub-late-echo' };
  expect(await script({ tools: [status], results: [] })).toMatchObject({ call: { tool: status } });
  expect(await script({ tools: [status], results: ['a', 'b', 'c'] })).toEqual({ say: 'Not offered: late_echo' });
  expect(await script({ tools: [], results: [] })).toEqual({ say: 'Not offered: late_echo' });
  expect(await script({ tools: [status, echo], results: ['starting'] })).toMatchObject({ call: { tool: echo } });
  expect(await script({ tools: [status, echo], results: ['starting', 'timed out'] })).toEqual({
    say: 'Failed: late_echo',
  });
});

async function open(script: Script) {
  const model = await startModel(script);
  onTestFinished(() => model.close());
  return {
    model,
    async ask(path: string, body: object): Promise<string> {
      const response = await fetch(`${model.url}${path}`, { method: 'POST', body: JSON.stringify(body) });
      expect(response.status).toBe(200);
      return response.text();
    },
  };
}
