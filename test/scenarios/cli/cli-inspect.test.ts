// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables in configuration are written so.
import { access, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { errorSchema, inspectSchema, lsSchema, toolsSchema } from '../../../src/faces/cli/json-shapes.ts';
import { readCalls } from '../../../src/ledger/index.ts';
import { pidsOfHub } from '../../../src/upstream/children/fixtures/processes.mjs';
import { fixturePath, startHttpFixture } from '../../support/fixture-servers.ts';
import { stdioServer } from '../../support/hub.ts';
import { layoutOf, ledgerOf } from '../../support/state-home.ts';
import { verifies } from '../../support/verifies.ts';
import { eventually } from '../../support/within.ts';
import { makeWorkspace, type QmResult, runQm, serveQm, startQm } from '../qm.fixture.ts';
import { runOnScreen } from '../screen.fixture.ts';

const echo = stdioServer('echo-stdio.mjs');
const everything = stdioServer('everything.mjs', ['--stdio']);

function inspect(workspace: string, ...args: string[]): Promise<QmResult> {
  return runQm(['inspect', '--workspace', workspace, ...args]);
}

test(verifies('inspect:complete', 'all capabilities of a server are listed, including schemas'), async () => {
  const workspace = await makeWorkspace({ servers: { all: everything } });
  const { code, stdout, stderr } = await inspect(workspace, 'all', '--json');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  const answer = inspectSchema.parse(JSON.parse(stdout));
  expect(answer).toMatchObject({ name: 'all', source: 'quartermaster.yaml:3', transport: 'stdio' });
  expect(answer.serverInfo?.name).toEqual(expect.any(String));
  expect(answer).toMatchObject({ isolation: 'shared', roots: 'none', notOffered: ['roots', 'logging'] });
  expect(Object.keys(answer.capabilities)).toEqual(expect.arrayContaining(['tools', 'resources', 'prompts']));
  expect(answer.tools.length).toBeGreaterThan(5);
  for (const tool of answer.tools) expect(tool.inputSchema, String(tool.name)).toMatchObject({ type: 'object' });
  expect(answer.resources[0]).toMatchObject({ uri: expect.any(String) });
  expect(answer.resourceTemplates[0]).toMatchObject({ uriTemplate: expect.any(String) });
  expect(answer.prompts[0]).toMatchObject({ name: expect.any(String) });
  expect(answer.warnings).toEqual([]);

  const read = (await inspect(workspace, 'all')).stdout;
  for (const { name } of [...answer.tools, ...answer.prompts]) expect(read).toContain(`  ${String(name)}(`);
  for (const { uri } of answer.resources) expect(read).toContain(String(uri));
  for (const { uriTemplate } of answer.resourceTemplates) expect(read).toContain(String(uriTemplate));
  for (const { own, name } of answer.exposed) expect([read, own]).toEqual([expect.stringContaining(name), own]);

  const lines = await readCalls(ledgerOf(workspace));
  expect(lines).toHaveLength(2);
  expect(lines[0]).toMatchObject({
    agent: 'operator',
    server: 'all',
    tool: 'inspect',
    status: 'ok',
    transport: 'stdio',
  });
});

test.each([
  ['legacy', 'shared', ['elicitation', 'sampling', 'roots', 'logging']],
  ['legacy', 'per-agent', ['roots']],
  ['legacy', 'per-session', ['roots']],
  ['modern', 'shared', ['roots', 'logging']],
] as const)(
  verifies(
    'inspect:isolation',
    'for a %s server that is %s, inspect lists unsupported server requests and the names that agents see',
  ),
  async (era, isolation, notOffered) => {
    const server = { ...stdioServer('matrix.mjs', ['--era', era, '--label', 'm', '--stdio']), isolation };
    const first = stdioServer('matrix.mjs', ['--era', 'legacy', '--label', 'first', '--stdio']);
    const workspace = await makeWorkspace({ servers: { first, m: server } });
    // From here on, the catalog of `first` is cached.
    const call = ['call', 'first.echo', 'nonce=n', '--agent', 'a', '--workspace', workspace];
    expect(await runQm(call)).toMatchObject({ code: 0 });
    const answer = inspectSchema.parse(JSON.parse((await inspect(workspace, 'm', '--json')).stdout));
    expect(answer).toMatchObject({ isolation, notOffered });
    expect(answer.exposed).toEqual([
      { kind: 'prompt', own: 'plain', name: 'm_plain' },
      { kind: 'prompt', own: 'greet', name: 'm_greet' },
      { kind: 'resource', own: 'shared://readme', name: 'm+shared://readme' },
    ]);
    const read = (await inspect(workspace, 'm')).stdout;
    expect(read).toContain(`  isolation    ${isolation}: `);
    expect(read).toContain('shared://readme\n    agents see m+shared://readme\n');
    expect(read).toContain('  plain()\n    agents see m_plain\n');
    expect(read.includes('set isolation: per-session')).toBe(isolation === 'shared');
    expect(read).toContain('roots: it gets no folders of its clients; set roots: client');
  },
);

test('a tool is shown as a signature, and a single tool with its whole schema', async () => {
  const workspace = await makeWorkspace({ servers: { echo } });
  const { stdout } = await inspect(workspace, 'echo');
  expect(stdout).toMatch(/^echo {2}echo-stdio \S+\n/);
  expect(stdout).toMatch(
    / {2}add\(a, b\)\n {4}says that it only reads\n {4}Adds two numbers\n {6}a: number\n {6}b: number/,
  );
  for (const name of ['add', 'echo.add', 'echo_add']) {
    const one = await inspect(workspace, 'echo', '--tool', name, '--json');
    expect(JSON.parse(one.stdout)).toMatchObject({ name: 'add', inputSchema: { required: ['a', 'b'] } });
  }
  const page = (await inspect(workspace, 'echo', '--tool', 'add')).stdout;
  expect(page).toMatch(/^add\(a, b\)\n[\s\S]*Input schema\n\{\n {2}"type": "object",[\s\S]*"readOnlyHint": true/);
  const unknown = await inspect(workspace, 'echo', '--tool', 'ad');
  expect(unknown).toMatchObject({ code: 2, stdout: '' });
  expect(unknown.stderr).toContain('Server "echo" has no tool "ad". Did you mean add?');
});

test('an unreachable server is explained as in qm doctor, with the same exit code', async () => {
  const locked = await startHttpFixture('bad-http.mjs', ['401']);
  const refused = await startHttpFixture('bad-http.mjs', ['403']);
  onTestFinished(async () => {
    await locked.stop();
    await refused.stop();
  });
  const workspace = await makeWorkspace({
    servers: {
      locked: { url: locked.url },
      refused: { url: refused.url },
      gone: { url: 'http://127.0.0.1:9/mcp' },
      missing: { command: 'uvx', env: { PATH: '/nowhere' } },
    },
  });
  const cases: readonly [code: number, server: string, says: RegExp][] = [
    [4, 'locked', /^! locked {2}needs-auth[\s\S]*→ Give server locked/],
    [1, 'refused', /^✗ refused {2}auth-failed[\s\S]*→ No credential/],
    [1, 'gone', /^✗ gone {2}unreachable[\s\S]*→ Nothing listens/],
    [1, 'missing', /^✗ missing {2}unreachable[\s\S]*Install uv/],
  ];
  for (const [code, server, says] of cases) {
    const result = await inspect(workspace, server);
    expect(result.stderr).toMatch(says);
    expect(result).toMatchObject({ code, stdout: '' });
  }
  const json = await inspect(workspace, 'locked', '--json');
  expect(json).toMatchObject({ code: 4, stdout: '' });
  expect(errorSchema.parse(JSON.parse(json.stderr)).error).toMatchObject({
    code: 'UPSTREAM_NEEDS_LOGIN',
    hint: expect.stringContaining('LOCKED_TOKEN'),
  });
  const outcomes = (await readCalls(ledgerOf(workspace))).map(({ server, outcome }) => `${server} ${outcome}`);
  expect(new Set(outcomes)).toEqual(
    new Set(['locked needs_login', 'refused forbidden', 'gone unavailable', 'missing unavailable']),
  );
});

test('a server that cannot be tried is reported with name, file and line, and nothing is started', async () => {
  const workspace = await makeWorkspace({
    servers: { off: { ...echo, enabled: false }, half: { command: `\${NOT_THERE}` }, echo },
  });
  const cases: readonly [code: number, args: readonly string[], says: RegExp][] = [
    [1, ['off'], /Server "off" is disabled \(quartermaster\.yaml:3\)/],
    [3, ['half'], /NOT_THERE.* Correct quartermaster\.yaml:\d+/],
    [2, ['ecko'], /Did you mean echo\?/],
    [2, [], /missing required argument 'server'/i],
    [2, ['echo', '--timeout', '-1'], /not a number of seconds/],
  ];
  for (const [code, args, says] of cases) {
    const result = await inspect(workspace, ...args);
    expect(result.stderr).toMatch(says);
    expect(result).toMatchObject({ code, stdout: '' });
  }
  await expect(access(layoutOf(workspace).folder)).rejects.toThrow('ENOENT');
  const broken = await makeWorkspace('servers: [');
  await writeFile(join(broken, '.mcp.json'), JSON.stringify({ mcpServers: { echo } }));
  const refused = await inspect(broken, 'echo');
  expect(refused).toMatchObject({ code: 3, stdout: '' });
  expect(refused.stderr).toMatch(/^qm: quartermaster\.yaml:\d+: /);
});

test(verifies('inspect:complete', "a server's own texts cannot control the terminal"), async () => {
  const workspace = await makeWorkspace({ servers: { evil: { command: process.execPath, args: ['-e', evil] } } });
  const all = await inspect(workspace, 'evil');
  const one = await inspect(workspace, 'evil', '--tool', 'bad\u001b]0;owned\u0007');
  const doctor = await runQm(['doctor', '--workspace', workspace]);
  for (const { code, stdout, stderr } of [all, one, doctor]) {
    expect(code).toBe(0);
    expect(stdout).toContain('␛]0;owned␇');
    expect(stdout + stderr).not.toContain('\u001b');
    expect(stdout + stderr).not.toContain('\u0007');
  }
});

test('JSON output escapes control characters', async () => {
  const args = ['-e', evil, '\u009b2J\u007f'];
  const workspace = await makeWorkspace({ servers: { evil: { command: process.execPath, args } } });
  for (const command of [
    ['inspect', 'evil'],
    ['doctor', 'evil'],
  ]) {
    const { stdout } = await runQm([...command, '--json', '--workspace', workspace]);
    expect(stdout).toContain('owned\\u0007\\u009b2J\\u007f');
    expect(stdout).not.toContain('\u009b');
    expect(JSON.stringify(JSON.parse(stdout))).toContain('\u009b2J\u007f');
  }
});

const evil = `
const nasty = 'bad\\u001b]0;owned\\u0007' + (process.argv[1] ?? '');
const lists = {
  'tools/list': { tools: [{ name: nasty, description: nasty, inputSchema: { type: 'object', properties: { [nasty]: { enum: [nasty], description: nasty } } } }] },
  'resources/list': { resources: [{ uri: nasty, name: nasty, mimeType: nasty, description: nasty }] },
  'resources/templates/list': { resourceTemplates: [{ uriTemplate: nasty, name: nasty }] },
  'prompts/list': { prompts: [{ name: nasty, arguments: [{ name: nasty, description: nasty }] }] },
};
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method } = JSON.parse(line);
  if (id === undefined) return;
  const capabilities = { tools: {}, resources: {}, prompts: {}, [nasty]: {} };
  const greeting = { protocolVersion: '2025-06-18', capabilities, serverInfo: { name: nasty, version: nasty }, instructions: nasty };
  const result = method === 'initialize' ? greeting : lists[method];
  const answer = result === undefined ? { error: { code: -32601, message: nasty } } : { result };
  process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, ...answer }) + '\\n');
});`;

test('Ctrl-C ends the command and its server', async () => {
  const workspace = await makeWorkspace({ servers: { silent: stdioServer('bad.mjs', ['never-answers']) } });
  const running = startQm(['inspect', 'silent', '--workspace', workspace, '--timeout', '600']);
  await eventually(() => pidsOfHub(running.pid).length > 0 || undefined, 'the server to start');
  running.signal('SIGINT');
  expect(await running.ended()).toMatchObject({ code: 130, stdout: '' });
});

test('ls is sorted, names hidden servers, and suggests qm doctor', async () => {
  const workspace = await makeWorkspace({ servers: { zeta: { ...echo, description: 'The last' }, alpha: echo } });
  await writeFile(join(workspace, '.mcp.json'), '{"mcpServers":{"alpha":{"command":"x"},"half":{"url":"nowhere"}}}');
  const read = await runQm(['ls', '--workspace', workspace]);
  expect(read.code).toBe(3);
  const rows = read.stdout.trimEnd().split('\n');
  expect(rows.map((row) => row.split(' ')[0])).toEqual(['NAME', 'alpha', 'half', 'zeta']);
  expect(rows[1]).toMatch(/idle {5}stdio {10}- {2}quartermaster\.yaml:\d+ {2}Hides \.mcp\.json:1\.$/);
  expect(rows[3]).toMatch(/The last$/);
  expect(read.stderr).toContain('`qm doctor half` explains how to fix it.');
  const json = lsSchema.parse(JSON.parse((await runQm(['ls', '--json', '--workspace', workspace])).stdout));
  expect(json.servers.find(({ name }) => name === 'alpha')?.hides).toEqual(['.mcp.json:1']);
  const empty = await runQm(['ls', '--workspace', await makeWorkspace()]);
  expect(empty).toMatchObject({ code: 0, stdout: '' });
  expect(empty.stderr).toMatch(/^warning quartermaster\.yaml No configuration found in .* `qm bootstrap --list`/);
  const idle = await runQm(['ls', '--workspace', await makeWorkspace('version: 1')]);
  expect(idle.stderr).toMatch(/^No servers are configured here\. Add one /);
});

test('ls shows the error of a server that has a warning too', async () => {
  const workspace = await makeWorkspace({});
  const half = { command: 'x', colour: 'red', args: ['${NOT_SET_HERE}'] };
  await writeFile(join(workspace, '.mcp.json'), JSON.stringify({ mcpServers: { half } }));
  const offline = await runQm(['ls', '--workspace', workspace]);
  expect(offline.stderr).toMatch(/^warning .* "colour" is unknown and ignored.*\nerror .* NOT_SET_HERE/);
  expect(offline.stdout).toMatch(/half +invalid .* needs the variable NOT_SET_HERE, which is not set\.\n/);
  const hub = await serveQm(workspace);
  const running = await runQm(['ls', '--workspace', workspace]);
  expect(running.stdout).toMatch(/half +invalid .* needs the variable NOT_SET_HERE, which is not set\.\n/);
  hub.signal('SIGTERM');
  await hub.ended();
});

test.each([
  [110, /^alpha +idle .* quartermaster\.yaml:\d+ +Says things back$/m],
  [60, /^alpha +idle .* quartermaster\.yaml:\d+\n {2}Says things back$/m],
  [30, /^alpha {2}idle\n {2}stdio · quartermaster\.yaml:\d+\n {2}Says things back$/m],
])('ls fits a terminal of %i columns', async (columns, looks) => {
  const servers = { alpha: { ...echo, description: 'Says things back' }, omega: { ...echo, enabled: false } };
  const workspace = await makeWorkspace({ servers });
  const running = runOnScreen(['ls'], { workspace, columns, env: { NO_COLOR: '1' } });
  expect(await running.ended).toBe(0);
  expect(running.stdout()).toMatch(looks);
  for (const line of running.stdout().split('\n')) expect(line.length).toBeLessThanOrEqual(columns);
});

test('on a narrow terminal, tools keeps names whole and omits descriptions', async () => {
  const workspace = await makeWorkspace({ servers: { echo } });
  const running = runOnScreen(['tools', '--agent', 'a'], { workspace, columns: 32, env: { NO_COLOR: '1' } });
  expect(await running.ended).toBe(0);
  expect(running.stdout()).toContain('  allow  echo_raw_args\n');
  for (const line of running.stdout().split('\n')) expect(line.length).toBeLessThanOrEqual(32);
});

test('tools counts hidden tools by reason', async () => {
  const workspace = await makeWorkspace({
    servers: { echo, other: stdioServer('echo-modern.mjs') },
    agents: { tester: { servers: ['echo'], tools: { echo: { exclude: ['fail', 'slow'] } } } },
    policies: { tools: { 'echo.counter': 'deny', 'echo.env': 'require-approval' } },
  });
  const nobody = await runQm(['tools', '--agent', 'nobody', '--workspace', workspace]);
  expect(nobody.stderr).toMatch(
    /\nAgent nobody sees no tools\. Add --all to ask every server, and to see what is hidden and why\.\n$/,
  );
  const first = await runQm(['tools', '--agent', 'tester', '--workspace', workspace]);
  expect(first.stderr).toBe(
    'Agent tester sees 6 tools, 1 of them only with approval. 3 are hidden: 2 excluded, 1 by a rule. --all lists them.\n',
  );
  const all = await runQm(['tools', '--agent', 'tester', '--all', '--workspace', workspace]);
  expect(all.stderr).toMatch(/12 are hidden: 2 excluded, 1 by a rule, 9 not routed\.\n$/);
  const json = await runQm(['tools', '--agent', 'tester', '--json', '--workspace', workspace]);
  expect(json.stderr).toBe('');
  expect(toolsSchema.parse(JSON.parse(json.stdout))).toHaveLength(6);
});

test(
  verifies('inspect:redaction', 'values of variables that a server puts into its lists are not printed'),
  async () => {
    const leaky = { command: process.execPath, args: ['leaky.mjs'], env: { KEY: '${LEAKED_KEY}' } };
    const workspace = await makeWorkspace({ servers: { leaky } });
    const serve = JSON.stringify(pathToFileURL(fixturePath('raw/serve-stdio.mjs')).href);
    const script = `import { serveStdio } from ${serve};
    const { KEY } = process.env;
    const properties = { [KEY]: { type: 'string', description: KEY } };
    const tools = [{ name: 'look_' + KEY, description: 'Uses ' + KEY, inputSchema: { type: 'object', properties } }];
    serveStdio({ name: 'leaky ' + KEY, listTools: () => ({ tools }) }, 'legacy');`;
    await writeFile(join(workspace, 'leaky.mjs'), script);
    const env = { LEAKED_KEY: 'sesame-1234' };
    for (const command of [
      ['inspect', 'leaky'],
      ['inspect', 'leaky', '--json'],
      ['doctor', '--json'],
      ['doctor'],
      ['tools', '--agent', 'tester', '--all'],
      ['tools', '--agent', 'tester', '--json'],
    ]) {
      const { stdout, stderr } = await runQm([...command, '--workspace', workspace], { env });
      expect(stdout, command.join(' ')).toContain('leaky');
      expect(`${stdout}${stderr}`, command.join(' ')).not.toContain(env.LEAKED_KEY);
    }
  },
);
