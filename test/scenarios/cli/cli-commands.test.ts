// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables in configuration are written so.
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  allToolsSchema,
  callLineSchema,
  errorSchema,
  explainSchema,
  lsSchema,
  tokenIssueSchema,
  tokenLsSchema,
  tokenRevokeSchema,
  toolsSchema,
} from '../../../src/faces/cli/json-shapes.ts';
import { type CallLine, readOpenCalls } from '../../../src/ledger/index.ts';
import { ledgerPlaces } from '../../../src/storage/index.ts';
import { startHttpFixture } from '../../support/fixture-servers.ts';
import { stdioServer } from '../../support/hub.ts';
import { layoutOf } from '../../support/state-home.ts';
import { verifies } from '../../support/verifies.ts';
import { eventually } from '../../support/within.ts';
import { makeWorkspace, type QmResult, runQm, serveQm, startQm } from '../qm.fixture.ts';

const team = {
  servers: {
    echo: stdioServer('echo-stdio.mjs'),
    other: stdioServer('echo-modern.mjs'),
    off: { command: 'node', enabled: false },
  },
  agents: {
    tester: { servers: ['echo'] },
    lead: { servers: ['echo', 'other'], policies: { tools: { 'other.*': 'require-approval' } } },
  },
  policies: { tools: { 'echo.counter': 'deny' } },
  approvals: { wait: '0s' },
};

async function qmIn(workspace: string, ...args: string[]): Promise<QmResult> {
  return runQm([...args, '--workspace', workspace]);
}

test(verifies('cli:without-hub', 'tools, call, explain and calls work without a running hub'), async () => {
  const workspace = await makeWorkspace(team);
  const tools = await qmIn(workspace, 'tools', '--agent', 'tester', '--json');
  expect(tools).toMatchObject({ code: 0, stderr: '' });
  const listed = toolsSchema.parse(JSON.parse(tools.stdout));
  expect(listed.map(({ tool }) => tool)).toEqual(['echo', 'add', 'big', 'env', 'fail', 'meta', 'raw_args', 'slow']);
  expect(listed[1]).toEqual({ name: 'echo_add', server: 'echo', tool: 'add', decision: 'allow' });

  const byServer = await qmIn(workspace, 'call', 'echo.echo', 'message=hello there', '--agent', 'tester');
  expect(byServer).toMatchObject({ code: 0, stdout: 'hello there\n', stderr: '' });
  const byName = await qmIn(workspace, 'call', 'echo_add', 'a=2', 'b=3', '--agent', 'tester', '--run', 'r1', '--json');
  expect(byName).toMatchObject({ code: 0, stdout: '{"content":[{"type":"text","text":"5"}]}\n' });

  const calls = await qmIn(workspace, 'calls', '--json');
  const lines = callLines(calls.stdout);
  expect(lines.map(({ tool, status, agent }) => [tool, status, agent])).toEqual([
    ['echo', 'ok', 'tester'],
    ['add', 'ok', 'tester'],
  ]);
  const ofRun = callLines((await qmIn(workspace, 'calls', '--run', 'r1', '--json')).stdout);
  expect(ofRun.map(({ run_id }) => run_id)).toEqual(['r1']);
  expect((await qmIn(workspace, 'calls')).stdout).toMatch(/TIME.*\n.*tester {2}echo\.echo {2}ok/);
});

test(
  verifies('view:explain', 'explain names the rule with its file and line, and exits 5 for a tool that is not allowed'),
  async () => {
    const workspace = await makeWorkspace(team);
    const denied = await qmIn(workspace, 'explain', 'echo.counter', '--agent', 'tester', '--json');
    expect(denied.code).toBe(5);
    const answer = explainSchema.parse(JSON.parse(denied.stdout));
    const text = await readFile(join(workspace, 'quartermaster.yaml'), 'utf8');
    const line = text.split('\n').findIndex((each) => each.includes('echo.counter')) + 1;
    expect(answer).toMatchObject({ decision: 'deny', reason: 'rule', pattern: 'echo.counter' });
    expect(answer.source).toEqual({ file: 'quartermaster.yaml', line });

    const asked = await qmIn(workspace, 'explain', 'other.add', '--agent', 'lead', '--json');
    expect(asked.code).toBe(5);
    expect(explainSchema.parse(JSON.parse(asked.stdout))).toMatchObject({ decision: 'ask', pattern: 'other.*' });
    const off = await qmIn(workspace, 'explain', 'off.x', '--agent', 'lead', '--json');
    expect(explainSchema.parse(JSON.parse(off.stdout))).toMatchObject({ decision: 'deny', reason: 'disabled' });
    const allowed = await qmIn(workspace, 'explain', 'echo.add', '--agent', 'tester', '--args', '{"a":1}');
    expect(allowed).toMatchObject({ code: 0 });
    expect(allowed.stdout).toContain('echo.add is allowed');
  },
);

test('tools --all lists hidden tools with the reason', async () => {
  const workspace = await makeWorkspace(team);
  const { code, stdout } = await qmIn(workspace, 'tools', '--agent', 'tester', '--all', '--json');
  expect(code).toBe(0);
  const rows = allToolsSchema.parse(JSON.parse(stdout));
  const counter = rows.find(({ server, tool }) => server === 'echo' && tool === 'counter');
  expect(counter).toMatchObject({ name: null, decision: 'deny' });
  expect(counter?.reason).toContain('rule "echo.counter"');
  expect(rows.filter(({ server }) => server === 'other').every(({ name }) => name === null)).toBe(true);
});

test(verifies('cli:exit-codes', 'each exit code matches the table'), async () => {
  const workspace = await makeWorkspace(team);
  const login = await startHttpFixture('bad-http.mjs', ['401']);
  const guarded = await makeWorkspace({ servers: { remote: { url: login.url } } });
  const broken = await makeWorkspace('servers: [');
  const cases: readonly [expected: number, where: string, args: readonly string[], says: RegExp][] = [
    [0, workspace, ['ls'], /^No hub is running here/],
    [1, workspace, ['call', 'echo.fail', '--agent', 'tester'], /reported an error/],
    [
      1,
      workspace,
      ['call', 'echo.slow', 'ms=60000', '--timeout', '1s', '--agent', 'tester'],
      /no answer within --timeout 1s/,
    ],
    [1, workspace, ['call', 'off.x', '--agent', 'lead'], /disabled/],
    [1, workspace, ['token', 'revoke', '0000000000'], /No valid token/],
    [2, workspace, ['lss'], /There is no command "qm lss"\. Did you mean `qm ls`\?/],
    [2, workspace, ['ls', '--workspac', '/tmp'], /Did you mean --workspace\?/],
    [2, workspace, ['tools'], /--agent/],
    [2, workspace, ['call', 'nothing.x', '--agent', 'tester'], /does not name a configured server.*echo, other/],
    [2, workspace, ['call', 'echo.nothing', '--agent', 'tester'], /has no tool "nothing".*raw_args/],
    [2, workspace, ['call', 'echo.add', 'a=x', 'b=1', '--agent', 'tester'], /"a" must be of type number/],
    [2, workspace, ['token', 'issue', '--agent', 'a b'], /cannot be the name/],
    [2, join(workspace, 'absent'), ['ls'], /is not a folder/],
    [3, broken, ['ls'], /quartermaster\.yaml:\d+/],
    [3, broken, ['tools', '--agent', 'a'], /quartermaster\.yaml/],
    [4, guarded, ['call', 'remote.echo', '--agent', 'a'], /requires a login/],
    [5, workspace, ['call', 'echo.counter', '--agent', 'tester'], /rule "echo\.counter" for every agent/],
    [
      5,
      workspace,
      ['call', 'other.echo', 'message=x', '--agent', 'tester'],
      /agent tester has no access to server other/,
    ],
    [
      5,
      workspace,
      ['call', 'other.echo', 'message=x', '--agent', 'lead'],
      /needs approval \w+, and nobody has decided/,
    ],
  ];
  for (const [expected, where, args, says] of cases) {
    const result = await qmIn(where, ...args);
    expect(result.stderr, args.join(' ')).toMatch(says);
    expect(result.code, args.join(' ')).toBe(expected);
  }
  await login.stop();
}, 120_000);

test(verifies('cli:json', 'with --json, stdout has the documented shape and errors are JSON on stderr'), async () => {
  const workspace = await makeWorkspace(team);
  const issued = await qmIn(workspace, 'token', 'issue', '--agent', 'tester', '--ttl', '1h', '--json');
  const token = tokenIssueSchema.parse(JSON.parse(issued.stdout));
  expect(token.agent).toBe('tester');
  expect(issued.stderr).toBe('');
  const child = await qmIn(
    workspace,
    'token',
    'issue',
    '--agent',
    'lead',
    '--parent',
    token.id,
    '--run',
    'r2',
    '--json',
  );
  const delegated = tokenIssueSchema.parse(JSON.parse(child.stdout));
  expect(delegated.expires <= token.expires).toBe(true);
  const listed = tokenLsSchema.parse(JSON.parse((await qmIn(workspace, 'token', 'ls', '--json')).stdout));
  expect(listed).toMatchObject([
    { id: token.id, state: 'valid' },
    { id: delegated.id, parent: token.id, run: 'r2' },
  ]);
  const revoked = await qmIn(workspace, 'token', 'revoke', token.id, '--json');
  expect(tokenRevokeSchema.parse(JSON.parse(revoked.stdout))).toEqual({ id: token.id, revoked: true });
  expect(tokenLsSchema.parse(JSON.parse((await qmIn(workspace, 'token', 'ls', '--json')).stdout))).toEqual([]);

  const ls = lsSchema.parse(JSON.parse((await qmIn(workspace, 'ls', '--json')).stdout));
  expect(ls.hub).toBeNull();
  expect(ls.servers.map(({ name, state }) => [name, state])).toEqual([
    ['echo', 'idle'],
    ['other', 'idle'],
    ['off', 'disabled'],
  ]);
  const failed = await qmIn(workspace, 'call', 'echo.counter', '--agent', 'tester', '--json');
  expect(failed).toMatchObject({ code: 5, stdout: '' });
  expect(errorSchema.parse(JSON.parse(failed.stderr)).error.code).toBe('POLICY_DENIED');
  const misused = await qmIn(workspace, 'call', '--json');
  expect(errorSchema.parse(JSON.parse(misused.stderr)).error.code).toBe('USAGE');
});

test('issuing a token to an unconfigured agent warns about the tools it will see', async () => {
  const workspace = await makeWorkspace(team);
  const { code, stdout, stderr } = await qmIn(workspace, 'token', 'issue', '--agent', 'stranger');
  expect(code).toBe(0);
  expect(stdout).toMatch(/^qm_[0-9a-z]{10}_\S+\n$/);
  expect(stderr).toContain('has no agent "stranger" (it has tester, lead); this agent will see no server at all');
  const file = await readFile(join(layoutOf(workspace).folder, 'tokens.json'), 'utf8');
  expect(file).not.toContain(stdout.trim());
});

test(verifies('arguments:bytes', 'arguments on the command line reach the server unchanged'), async () => {
  const workspace = await makeWorkspace(team);
  const raw = '{"n": 12345678901234567890, "x":1.0}';
  const asText = await qmIn(workspace, 'call', 'echo.raw_args', '--agent', 'tester', '--args', raw);
  expect(asText.stdout).toBe(`${raw}\n`);
  const fromInput = await runQm(
    ['call', 'echo.raw_args', '--agent', 'tester', '--args', '-', '--workspace', workspace],
    {
      input: `${raw}\n`,
    },
  );
  expect(fromInput.stdout).toBe(`${raw}\n`);
  const pairs = ['text=7', 'equals=a=b', 'list:=[1,2]', 'big:=12345678901234567890'];
  const asPairs = await qmIn(workspace, 'call', 'echo.raw_args', ...pairs, '--agent', 'tester');
  expect(asPairs.stdout).toBe('{"text":"7","equals":"a=b","list":[1,2],"big":12345678901234567890}\n');
  const twice = await qmIn(workspace, 'call', 'echo.raw_args', '--agent', 'tester', '--args', '{"a":1,"a":2}');
  expect(twice).toMatchObject({ code: 2, stdout: '' });
});

test(verifies('ledger:redaction', 'secrets in the configuration are redacted in command output'), async () => {
  const workspace = await makeWorkspace({
    servers: { bad: { command: 'sh', args: ['-c', 'echo "refused $KEY" >&2; exit 1'], env: { KEY: '${MY_KEY}' } } },
  });
  const options = { env: { MY_KEY: 'correct-horse-battery' } };
  const tools = await runQm(['tools', '--agent', 'a', '--workspace', workspace, '--log-level', 'debug'], options);
  const call = await runQm(['call', 'bad.x', '--agent', 'a', '--workspace', workspace], options);
  expect(call.code).toBe(1);
  expect(call.stderr).toContain('refused');
  expect(tools.stderr + call.stderr).not.toContain('correct-horse-battery');
});

test(
  verifies('config:invalid-alone', 'an invalid server is reported with file and line, and the others still work'),
  async () => {
    const workspace = await makeWorkspace({ servers: { echo: stdioServer('echo-stdio.mjs') } });
    await writeFile(join(workspace, '.mcp.json'), '{"mcpServers":{"half":{"command":"${NOT_THERE}"}}}');
    const ls = await qmIn(workspace, 'ls', '--json');
    expect(ls.code).toBe(3);
    const { servers, problems } = lsSchema.parse(JSON.parse(ls.stdout));
    expect(servers.find(({ name }) => name === 'half')).toMatchObject({ state: 'invalid', source: '.mcp.json:1' });
    expect(problems[0]).toMatchObject({ severity: 'error', file: '.mcp.json', line: 1, server: 'half' });
    expect(await qmIn(workspace, 'call', 'echo.echo', 'message=1', '--agent', 'a')).toMatchObject({
      code: 0,
      stdout: '1\n',
    });
    const half = await qmIn(workspace, 'call', 'half.x', '--agent', 'a');
    expect(half.code).toBe(3);
    expect(half.stderr).toContain('NOT_THERE');
  },
);

test('Ctrl-C cancels a call, also upstream, and the ledger records it', async () => {
  const workspace = await makeWorkspace({
    servers: { echo: stdioServer('echo-stdio.mjs', [], { env: { CANCEL_LOG: '${WORKSPACE_ROOT}/cancelled' } }) },
  });
  const running = startQm(['call', 'echo.slow', 'ms=60000', '--agent', 'a', '--workspace', workspace]);
  await untilOpen(workspace);
  running.signal('SIGINT');
  const { code, stderr, stdout } = await running.ended();
  expect({ code, stdout }).toEqual({ code: 130, stdout: '' });
  expect(stderr).toContain('The call was cancelled');
  expect(await readFile(join(workspace, 'cancelled'), 'utf8')).toContain('"slow"');
  const calls = callLines((await qmIn(workspace, 'calls', '--json')).stdout);
  expect(calls.map(({ outcome }) => outcome)).toEqual(['cancelled']);
});

test('calls --follow prints calls as they end, one JSON object per line, until Ctrl-C', async () => {
  const workspace = await makeWorkspace(team);
  await qmIn(workspace, 'call', 'echo.echo', 'message=1', '--agent', 'tester');
  const follower = startQm(['calls', '--follow', '--json', '--workspace', workspace]);
  expect(JSON.parse(await follower.line())).toMatchObject({ tool: 'echo' });
  await qmIn(workspace, 'call', 'echo.add', 'a=1', 'b=2', '--agent', 'tester');
  const [next] = callLines(await follower.line());
  expect(next?.tool).toBe('add');
  follower.signal('SIGINT');
  expect(await follower.ended()).toMatchObject({ code: 130, stderr: '' });
});

test('a closed pipe ends a command quietly', async () => {
  const workspace = await makeWorkspace(team);
  await qmIn(workspace, 'call', 'echo.echo', 'message=1', '--agent', 'tester');
  const follower = startQm(['calls', '--follow', '--json', '--workspace', workspace]);
  await follower.line();
  follower.child.stdout.destroy();
  await qmIn(workspace, 'call', 'echo.echo', 'message=2', '--agent', 'tester');
  expect(await follower.ended()).toMatchObject({ code: 0, stderr: '' });
});

/** `qm calls --json` prints one object per line. */
function callLines(stdout: string): CallLine[] {
  const lines = stdout.split('\n').filter((line) => line !== '');
  return lines.map((line) => callLineSchema.parse(JSON.parse(line)));
}

/** Waits until the ledger shows a call in flight. */
async function untilOpen(workspace: string): Promise<void> {
  await eventually(
    async () => ((await readOpenCalls(ledgerPlaces(layoutOf(workspace)))).length > 0 ? true : undefined),
    'an open call',
  );
}

test('ls says what open-circuit means and when the next attempt is due', async () => {
  const workspace = await makeWorkspace({ servers: { dead: { command: 'sh', args: ['-c', 'exit 3'] } } });
  const hub = await serveQm(workspace);
  const row = await eventually(async () => {
    const { stdout } = await qmIn(workspace, 'ls');
    return stdout.includes('open-circuit') ? stdout : undefined;
  }, 'the breaker to open');
  expect(row).toMatch(/Several attempts failed, so calls fail at once until the next one in \d+ s\./);
  hub.signal('SIGTERM');
  await hub.ended();
});
