import { expect, test } from 'vitest';
import { verifies } from '../../../test/support/verifies.ts';
import { load } from '../workspace.fixture.ts';

const up = '"up":{"command":"x"}';
const local = '"up":{"type":"local","command":["x"]}';
const crush = '"up":{"type":"stdio","command":"x"}';

/** Clients take the last of two equal keys. The first one here restricts less. */
const files: readonly (readonly [string, string])[] = [
  ['.amp/settings.json', `{"amp.mcpServers":{${up}},"amp.tools.disable":[],"amp.tools.disable":["mcp__up__drop"]}`],
  [
    '.amp/settings.json',
    `{"amp.mcpServers":{${up}},"amp.permissions":[{"tool":"mcp__up__drop","action":"allow","action":"reject"}]}`,
  ],
  ['.gemini/settings.json', `{"mcpServers":{${up}},"tools":{},"tools":{"exclude":["drop"]}}`],
  ['.gemini/settings.json', `{"mcpServers":{${up}},"tools":{"exclude":[],"exclude":["drop"]}}`],
  ['.gemini/settings.json', `{"mcpServers":{${up}},"mcp":{},"mcp":{"excluded":["up"]}}`],
  ['.qwen/settings.json', `{"mcpServers":{${up}},"permissions":{},"permissions":{"deny":["mcp__up__drop"]}}`],
  ['.zed/settings.json', `{"context_servers":{${up}},"agent":{},"agent":{"tool_permissions":{"default":"deny"}}}`],
  [
    '.zed/settings.json',
    '{"context_servers":{"up":{"command":{"path":"x"},"command":{"path":"x","disabled":true}}},"theme":"a"}',
  ],
  ['opencode.json', `{"mcp":{${local}},"permission":{},"permission":{"up_drop":"deny"}}`],
  ['opencode.json', `{"mcp":{"servers":{${local}},"servers":{"up":{"enabled":false}}}}`],
  ['crush.json', `{"mcp":{${crush}},"options":{},"options":{"disabled_tools":["drop"]}}`],
  ['product.json', '{"mcp":{"servers":{"up":{"config":{"command":"x"},"config":{"command":"x","disabled":true}}}}}'],
];

test.each(files)(
  verifies('config:restrictions', 'a repeated key in %s does not lose a restriction: %s'),
  async (file, text) => {
    const { servers, policy } = await load({ [file]: text });
    const isUnusable = servers.get('up')?.kind === 'invalid' || policy?.rules[0]?.pattern === '*';
    expect(isUnusable, JSON.stringify([...servers])).toBe(true);
  },
);

test.each([
  '{"name":"a","tools":["@up"],"tools":["@up/look"]}',
  '{"name":"a","tools":["@up"],"mcpServers":{},"mcpServers":{}}',
])('a repeated key in the file of an agent leaves it without tools: %s', async (text) => {
  const { agents, policy } = await load({
    '.amazonq/mcp.json': `{"mcpServers":{${up}}}`,
    '.amazonq/cli-agents/a.json': text,
  });
  expect(agents.get('a')?.servers ?? policy?.rules.map(({ effect }) => effect)).toEqual(
    agents.has('a') ? [] : ['deny'],
  );
});

test('a repeated key on the way to two parts is reported once', async () => {
  const { problems } = await load({ '.zed/settings.json': `{"context_servers":{${up}},"agent":{},"agent":{}}` });
  expect(problems.map(({ field }) => field)).toEqual(['agent']);
});

test('a repeated key elsewhere in the settings of a client changes nothing', async () => {
  const text = `{"context_servers":{${up}},"theme":"a","theme":"b","agent":{"x":1,"x":2}}`;
  const configuration = await load({ '.zed/settings.json': text });
  expect([configuration.servers.get('up')?.kind, configuration.problems]).toEqual(['ready', []]);
});
