// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables in configuration are written so.
import { expect, test } from 'vitest';
import { verifies } from '../../../../test/support/verifies.ts';
import type { Configuration } from '../../../domain/index.ts';
import { invalid, onlyProblem, ready } from '../../workspace.fixture.ts';
import { loadClient } from './client-file.fixture.ts';

const codex = (text: string, env?: Readonly<Record<string, string>>): Promise<Configuration> =>
  loadClient('.codex/config.toml', text, env);

test(verifies('config:client-files', 'Codex: programs and addresses, variables by name, tools and times'), async () => {
  const configuration = await codex(
    `model = "x"
[shell_environment_policy]
inherit = "core"

[mcp_servers.tool]
command = "node"
args = ["a.js", "\${AS_IT_IS}"]
cwd = "sub"
env_vars = ["TOKEN", { name = "OTHER", source = "local" }]
startup_timeout_sec = 20
tool_timeout_sec = 1.5
enabled_tools = ["read", "write"]
disabled_tools = ["write"]
  [mcp_servers.tool.env]
  OTHER = "own"

[mcp_servers."remote one"]
url = "https://x.example/mcp"
bearer_token_env_var = "TOKEN"
http_headers = { X-Plain = "1" }
env_http_headers = { X-Key = "OTHER" }

[mcp_servers.off]
command = "x"
enabled = false
`,
    { TOKEN: 'token-of-codex', OTHER: 'other-of-codex' },
  );
  expect(configuration.problems.map(({ line, field }) => [line, field])).toEqual([[17, 'mcp_servers.remote one']]);
  expect(ready(configuration, 'tool')).toMatchObject({
    source: { line: 5 },
    transport: { args: ['a.js', '${AS_IT_IS}'], env: { TOKEN: 'token-of-codex', OTHER: 'own' } },
    tools: { include: ['read', 'write'], exclude: ['write'] },
    limits: { timeoutMs: 1_500 },
  });
  expect(ready(configuration, 'remote-one').transport).toEqual({
    type: 'http',
    url: 'https://x.example/mcp',
    headers: { 'X-Plain': '1', 'X-Key': 'other-of-codex', Authorization: 'Bearer token-of-codex' },
  });
  expect(ready(configuration, 'off').enabled).toBe(false);
  expect(configuration.secrets).toEqual(expect.arrayContaining(['token-of-codex', 'other-of-codex']));
});

test('variables that Codex passes on where they are set are left out where they are not', async () => {
  const configuration = await codex(
    '[mcp_servers.a]\ncommand = "x"\nenv_vars = ["NONE"]\n[mcp_servers.b]\nurl = "https://x.example"\nenv_http_headers = { K = "NONE" }\n',
  );
  expect(ready(configuration, 'a').transport).toMatchObject({ env: {} });
  expect(ready(configuration, 'b').transport).toMatchObject({ headers: {} });
  expect(configuration.problems.map(({ severity, line, field }) => [severity, line, field])).toEqual([
    ['warning', 3, 'mcp_servers.a.env_vars.0'],
    ['warning', 6, 'mcp_servers.b.env_http_headers.K'],
  ]);
});

test(verifies('variables:missing', 'a token that Codex would not start without is an error'), async () => {
  const configuration = await codex('[mcp_servers.a]\nurl = "https://x.example"\nbearer_token_env_var = "NONE"\n');
  expect(onlyProblem(configuration)).toMatchObject({
    severity: 'error',
    line: 3,
    message: 'Server "a": "bearer_token_env_var" needs the variable NONE, which is not set.',
  });
  expect(invalid(configuration, 'a').source).toEqual({ file: '.codex/config.toml', line: 1 });
});

test('a broken file is told with line and column and without a word of it', async () => {
  const configuration = await codex('[mcp_servers.a]\ncommand = "hunter2\n');
  expect(configuration.servers.size).toBe(0);
  expect(onlyProblem(configuration)).toMatchObject({ severity: 'error', line: 2 });
  expect(onlyProblem(configuration).message).toContain('line 2, column');
  expect(JSON.stringify(configuration)).not.toContain('hunter2');
});

test('where Codex asks the hub asks, a mistyped restriction is an error', async () => {
  const configuration = await codex(
    '[mcp_servers.a]\ncommand = "x"\n[mcp_servers.a.tools.write]\napproval_mode = "prompt"\n[mcp_servers.b]\ncommand = "x"\ndisabled_tool = ["y"]\n',
  );
  const source = { file: '.codex/config.toml', line: 4 };
  expect(ready(configuration, 'a').restrictedBy[0]?.rules?.rules).toEqual([
    { pattern: 'write', effect: 'require-approval', source },
  ]);
  expect(invalid(configuration, 'b').problems[0]).toMatchObject({ fix: 'Did you mean "disabled_tools"?', line: 7 });
});

test.each([
  ['enabled = false\napproval_mode = "approve"', 'deny'],
  ['approval_mode = "auto"\nenabled = false', 'deny'],
  ['disabled = true\napproval_mode = "prompt"', 'deny'],
  ['enabled = true\napproval_mode = "prompt"', 'require-approval'],
])('the strictest key of a tool decides, in any order: %s', async (keys, effect) => {
  const configuration = await codex(`[mcp_servers.a]\ncommand = "x"\n[mcp_servers.a.tools.drop]\n${keys}\n`);
  const rules = ready(configuration, 'a').restrictedBy[0]?.rules?.rules;
  expect(rules?.map((rule) => [rule.pattern, rule.effect])).toEqual([['drop', effect]]);
});

test('a star in the name of a tool approves nothing: Codex has no patterns there', async () => {
  const configuration = await codex(
    '[mcp_servers.a]\ncommand = "x"\ndefault_tools_approval_mode = "prompt"\n[mcp_servers.a.tools."*"]\napproval_mode = "approve"\n',
  );
  const rules = ready(configuration, 'a').restrictedBy[0]?.rules?.rules;
  expect(rules?.map(({ pattern, effect }) => [pattern, effect])).toEqual([['*', 'require-approval']]);
});

test('secrets and variables in its texts are answered with the keys that name variables', async () => {
  const secret = 'aB3'.repeat(8);
  const configuration = await codex(
    `[mcp_servers.a]\ncommand = "x"\nenv = { API_KEY = "${secret}" }\n[mcp_servers.b]\ncommand = "x"\nenv = { A = "$TOKEN" }\n`,
  );
  expect(configuration.problems.map(({ line, fix }) => [line, fix?.slice(0, 25)])).toEqual([
    [3, 'Name API_KEY in "env_vars'],
    [6, 'Name TOKEN in "env_vars",'],
  ]);
  expect(JSON.stringify(configuration.problems)).not.toContain(secret);
});

test('keys that Codex refuses or does not see are told', async () => {
  const configuration = await codex(
    '[mcp_servers.a]\nurl = "https://x.example"\nheaders = { A = "b" }\nenv_vars = ["X"]\n[mcp_servers.b]\nurl = "https://x.example"\nbearer_token = "hunter2"\n[mcp_servers.c]\ncommand = "x"\nbearer_token_env_var = "X"\n',
  );
  expect(configuration.problems.map(({ severity, line, field }) => [severity, line, field])).toEqual([
    ['warning', 3, 'mcp_servers.a.headers'],
    ['warning', 4, 'mcp_servers.a.env_vars'],
    ['error', 7, 'mcp_servers.b.bearer_token'],
    ['warning', 10, 'mcp_servers.c.bearer_token_env_var'],
  ]);
  expect([...configuration.servers.values()].map(({ kind }) => kind)).toEqual(['ready', 'invalid', 'ready']);
  expect(JSON.stringify(configuration)).not.toContain('hunter2');
});

test('a file without servers is nobody’s concern, servers under another name are told', async () => {
  expect((await codex('[project]\nname = "x"\n')).problems).toEqual([]);
  expect(onlyProblem(await codex('[mcpServers.a]\ncommand = "x"\n'))).toMatchObject({
    severity: 'warning',
    line: 1,
    fix: 'Move them into "mcp_servers".',
  });
});
