import { expect, test } from 'vitest';
import { verifies } from '../../../test/support/verifies.ts';
import type { ToolRef } from '../../index.ts';
import { broken, echo, openLibraryHub } from './library-stage.fixture.ts';

const team = {
  servers: { echo, other: echo, broken },
  agents: { tester: { servers: ['echo', 'broken'] } },
  policies: { tools: { 'echo.counter': 'deny' } },
};

function ref(server: string, tool: string): ToolRef {
  return { type: 'mcp', server, tool };
}

test(verifies('library:selection', 'an agent that is narrowed has exactly the selected tools'), async () => {
  const hub = await openLibraryHub(team);
  const tester = hub.agent('tester', { tools: [ref('echo', 'echo'), ref('echo', 'add')] });
  expect((await tester.tools()).map(({ name }) => name)).toEqual(['echo', 'echo_add']);
  expect((await tester.tools([ref('echo', 'add')])).map(({ tool }) => tool)).toEqual(['add']);
  for (const name of ['echo.echo', 'echo', ref('echo', 'echo')]) {
    const { content, server, tool } = await tester.call(name, { message: 'hi' });
    expect([content, server, tool]).toEqual([[{ type: 'text', text: 'hi' }], 'echo', 'echo']);
  }
  for (const name of ['echo.meta', 'echo_meta', ref('echo', 'meta')]) {
    await expect(tester.call(name)).rejects.toMatchObject({
      code: 'TOOL_UNKNOWN',
      message: 'Tool echo.meta is not among those that the program selected for this agent.',
    });
  }
  await expect(tester.tools([ref('echo', 'meta')])).rejects.toMatchObject({ code: 'TOOL_UNKNOWN' });
  await expect(hub.agent('tester', { tools: [] }).tools()).resolves.toEqual([]);
});

test('a selection never widens: what the agent does not have is an error that names it', async () => {
  const hub = await openLibraryHub(team);
  for (const [server, tool] of [
    ['echo', 'counter'],
    ['echo', 'nothing'],
    ['other', 'echo'],
    ['nowhere', 'echo'],
  ] as const) {
    const selected = hub.agent('tester', { tools: [ref('echo', 'echo'), ref(server, tool)] });
    await expect(selected.tools()).rejects.toMatchObject({
      code: 'TOOL_UNKNOWN',
      message: `Agent "tester" has no tool ${server}.${tool}.`,
      details: { server, tool },
    });
    await expect(selected.call(ref(server, tool))).rejects.toMatchObject({ code: 'TOOL_UNKNOWN' });
    expect((await selected.call(ref('echo', 'echo'), { message: 'hi' })).isError).toBe(false);
  }
  expect(hub.status().find(({ name }) => name === 'other')?.state).toBe('idle');
});

test('a selected tool of a server that does not start is an error with the reason', async () => {
  const hub = await openLibraryHub(team);
  await expect(hub.agent('tester').tools([ref('broken', 'echo')])).rejects.toMatchObject({
    name: 'MCPServerError',
    server: 'broken',
    message: expect.stringMatching(/Tool broken\.echo cannot be selected.*API_KEY is not set/),
  });
});

test('what is no selection is told at once', async () => {
  const hub = await openLibraryHub({ servers: { echo } });
  // A program in JavaScript may pass anything.
  for (const wrong of ['echo.echo', { server: 'echo', tool: 'echo' }, { type: 'mcp', server: 'echo' }, undefined]) {
    const tools = [wrong] as ToolRef[];
    expect(() => hub.agent('tester', { tools })).toThrow('selects no tool');
    await expect(hub.agent('tester').tools(tools)).rejects.toMatchObject({ code: 'USAGE' });
  }
});

test('two servers whose names read alike with their tools are told apart', async () => {
  const hub = await openLibraryHub({ servers: { 'a.echo': echo, a: echo }, naming: 'preserved' });
  const agent = hub.agent('tester');
  await agent.tools();
  const { server } = await agent.call(ref('a', 'echo'), { message: 'hi' });
  expect(server).toBe('a');
  await expect(agent.call(ref('a', 'echo.echo'))).rejects.toMatchObject({ code: 'TOOL_UNKNOWN' });
});
