// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables in configuration are written so.
import { expect, test } from 'vitest';
import type { Configuration } from '../../../domain/index.ts';
import { invalid, load, onlyProblem, ready } from '../../workspace.fixture.ts';

const librechat = (
  text: string,
  env: Readonly<Record<string, string>> = {},
  stored: Readonly<Record<string, string>> = {},
): Promise<Configuration> => load({ 'librechat.yaml': text }, env, stored);

test('servers of all kinds, beside other settings', async () => {
  const configuration = await librechat(
    `version: 1.2.1
endpoints: { custom: [] }
registration: { allowedDomains: [x.example] }
mcpServers:
  everything:
    url: http://127.0.0.1:3001/sse
    timeout: 60000
    initTimeout: 5000
    chatMenu: false
    serverInstructions: true
  files:
    type: stdio
    command: npx
    args: [-y, "@modelcontextprotocol/server-filesystem", /srv]
    env: { KEY: "\${KEY}" }
    iconPath: /x.svg
    startup: false
  docs:
    type: streamable-http
    url: https://x.example/mcp
    headers: { Authorization: "Bearer {{DOCS_TOKEN}}" }
    customUserVars: { DOCS_TOKEN: { title: Token, description: Your token } }
`,
    { KEY: 'key-of-chat', DOCS_TOKEN: 'of-the-environment' },
    { DOCS_TOKEN: 'stored-token' },
  );
  expect(configuration.problems).toEqual([]);
  expect(ready(configuration, 'everything')).toMatchObject({
    transport: { type: 'sse' },
    limits: { timeoutMs: 60_000 },
  });
  expect(ready(configuration, 'files').transport).toMatchObject({ env: { KEY: 'key-of-chat' } });
  expect(ready(configuration, 'docs').transport).toMatchObject({
    type: 'http',
    headers: { Authorization: 'Bearer stored-token' },
  });
  expect(configuration.secrets).toContain('stored-token');
});

test('what only LibreChat knows is told', async () => {
  const configuration = await librechat(`mcpServers:
  a: { type: sse, url: "https://x.example", headers: { X-User: "{{LIBRECHAT_USER_ID}}" } }
  b: { type: http, url: "https://x.example", apiKey: { source: admin, key: x, authorization_type: bearer } }
  c: { type: websocket, url: "wss://x.example" }
`);
  expect(invalid(configuration, 'a').problems[0]?.message).toContain(
    '"{{LIBRECHAT_USER_ID}}" is filled in by LibreChat',
  );
  expect(configuration.problems.find(({ server }) => server === 'b')).toMatchObject({ field: 'mcpServers.b.apiKey' });
  expect(invalid(configuration, 'c').problems[0]?.field).toBe('mcpServers.c.type');
});

test('only servers in the allowed domains are usable', async () => {
  const server = (name: string, url: string) => `  ${name}: { type: http, url: "${url}" }\n`;
  const configuration = await librechat(
    `mcpSettings: { allowedDomains: [good.example, "*.wide.example", "http://127.0.0.1:3000"] }\nmcpServers:\n` +
      server('good', 'https://good.example/mcp') +
      server('sub', 'https://a.wide.example/mcp') +
      server('local', 'http://127.0.0.1:3000/mcp') +
      server('port', 'http://127.0.0.1:3001/mcp') +
      server('other', 'https://evil.example/good.example') +
      server('suffix', 'https://notgood.example/mcp') +
      server('variable', 'https://${HOST}/mcp') +
      '  program: { command: x, args: [] }\n',
    { HOST: 'good.example' },
  );
  const kinds = Object.fromEntries([...configuration.servers].map(([name, { kind }]) => [name, kind]));
  expect(kinds).toEqual({
    good: 'ready',
    sub: 'ready',
    local: 'ready',
    port: 'invalid',
    other: 'invalid',
    suffix: 'invalid',
    variable: 'invalid',
    program: 'ready',
  });
});

test('servers that users may not use are disabled', async () => {
  const configuration = await librechat(
    'interface: { mcpServers: { use: false } }\nmcpServers: { a: { command: x, args: [] } }\n',
  );
  expect(ready(configuration, 'a').enabled).toBe(false);
});

test.each([
  'mcpSettings: { allowedDomains: good.example }\nmcpServers: { a: { command: x } }\n',
  'mcpSettings: { deniedServers: [a] }\nmcpServers: { a: { command: x } }\n',
  'mcpServers: { a: { command: x, onlyFor: [admin] } }\n',
])('a restriction that is not understood makes its server invalid: %s', async (text) => {
  expect(invalid(await librechat(text), 'a').kind).toBe('invalid');
});

test('a file without servers is not read, a broken one is told', async () => {
  const without = await load({ 'librechat.yaml': 'version: 1\nx: [', '.mcp.json': '{"mcpServers":{}}' });
  expect([without.problems, without.files]).toEqual([[], ['.mcp.json']]);
  expect(onlyProblem(await librechat('mcpServers: [\n')).severity).toBe('error');
});
