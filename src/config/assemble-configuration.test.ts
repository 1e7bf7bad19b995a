import { expect, test } from 'vitest';
import { verifies } from '../../test/support/verifies.ts';
import { invalid, load, onlyProblem, ready } from './workspace.fixture.ts';

/** The same server in every file that is not a client's, strongest first. */
const files: readonly (readonly [file: string, text: (command: string) => string])[] = [
  ['quartermaster.yaml', (command) => `servers: { s: { command: ${command} } }`],
  ['.squad/mcp-config.json', (command) => `{"servers":{"s":{"command":"${command}"}}}`],
  ['.mcp/servers/s.yaml', (command) => `server_id: s\ncommand: ${command}\n`],
  ['ops/adk/servers/s.yaml', (command) => `id: s\ntransport: { type: stdio, command: ${command} }\n`],
  ['.mcp.json', (command) => `{"mcpServers":{"s":{"command":"${command}"}}}`],
  ['enabled-tools.json', (command) => `{"mcp_servers":{"s":{"type":"local","command":["${command}"],"enabled":true}}}`],
  ['product.json', (command) => `{"mcp":{"servers":[{"name":"s","transport":"stdio","command":"${command}"}]}}`],
  ['manifest.json', (command) => `{"mcp":{"servers":{"s":{"transport":"stdio","command":"${command}"}}}}`],
];

function from(start: number): Record<string, string> {
  return Object.fromEntries(files.slice(start).map(([file, text], index) => [file, text(`c${start + index}`)]));
}

test(verifies('config:precedence', 'each file hides the ones below it, and says so'), async () => {
  for (const [index, [file]] of files.entries()) {
    const configuration = await load(from(index));
    const weaker = files.slice(index + 1).map(([name]) => name);
    const { transport, source, hides } = ready(configuration, 's');
    expect([transport, source.file]).toMatchObject([{ command: `c${index}` }, file]);
    expect(hides.map((place) => place.file)).toEqual(weaker);
    expect(configuration.problems.map((problem) => [problem.severity, problem.file, problem.server])).toEqual(
      weaker.map((name) => ['warning', name, 's']),
    );
    for (const { message } of configuration.problems) expect(message).toContain(`overridden by the one in ${file}:`);
  }
});

test(verifies('config:precedence', 'in one folder the first file by name wins'), async () => {
  const configuration = await load({
    '.mcp/servers/s.json': '{"command":"json"}',
    '.mcp/servers/s.yaml': 'command: yaml\n',
  });
  expect(ready(configuration, 's').transport).toMatchObject({ command: 'json' });
  expect(onlyProblem(configuration)).toMatchObject({ severity: 'warning', file: '.mcp/servers/s.yaml' });
});

test('a server file that cannot be parsed still hides the weaker one', async () => {
  const configuration = await load({
    '.mcp/servers/s.yaml': 'command: [',
    '.mcp.json': '{"mcpServers":{"s":{"command":"x"}}}',
  });
  expect(invalid(configuration, 's')).toMatchObject({
    source: { file: '.mcp/servers/s.yaml' },
    hides: [{ file: '.mcp.json' }],
  });
});

test(verifies('config:agents', 'agents come from the strongest file that names any'), async () => {
  const squad = '{"servers":{"a":{"command":"x"}},"agentServers":{"lead":["a"]}}';
  const team = '## Members\n| Name | Role |\n|---|---|\n| Ada | Lead |\n';
  const names = async (more: Readonly<Record<string, string>>): Promise<string[]> => [
    ...(await load({ '.squad/mcp-config.json': squad, '.squad/team.md': team, ...more })).agents.keys(),
  ];
  expect(await names({ 'quartermaster.yaml': 'agents: { tester: { servers: [] } }' })).toEqual(['tester']);
  expect(await names({ 'quartermaster.yaml': 'servers: {}' })).toEqual(['lead']);
  expect(await names({ '.squad/mcp-config.json': '{"servers":{}}' })).toEqual(['ada', 'lead']);
});
