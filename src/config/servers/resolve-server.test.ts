// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables in configuration are written so.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { verifies } from '../../../test/support/verifies.ts';
import type { ServerSpec } from '../../domain/index.ts';
import { loadWithSources } from '../load-configuration.ts';
import { createWorkspace, invalid, onlyProblem, own, ready } from '../workspace.fixture.ts';

test('variables in every place that takes them', async () => {
  const configuration = await own(
    `servers:
  a: { command: "\${C}", args: ["\${C}", "\${C:+--\${C}}"], env: { E: "\${C}" }, cwd: "\${SQUAD_ROOT}" }
  b: { url: "https://\${H}/mcp", headers: { X: "\${H}" } }
`,
    { C: 'node', H: 'example.com' },
  );
  expect(ready(configuration, 'a').transport).toEqual({
    type: 'stdio',
    command: 'node',
    args: ['node', '--node'],
    env: { E: 'node' },
    cwd: configuration.workspace,
  });
  expect(ready(configuration, 'b').transport).toEqual({
    type: 'http',
    url: 'https://example.com/mcp',
    headers: { X: 'example.com' },
  });
});

test(verifies('variables:missing', 'a missing variable names server, field, variable and the way out'), async () => {
  const configuration = await own(
    'servers:\n  api:\n    url: https://example.com\n    headers:\n      Authorization: Bearer ${API_TOKEN}\n',
  );
  const problem = onlyProblem(configuration);
  expect(problem).toEqual({
    severity: 'error',
    file: 'quartermaster.yaml',
    line: 5,
    field: 'servers.api.headers.Authorization',
    server: 'api',
    message: 'Server "api": "headers.Authorization" needs the variable API_TOKEN, which is not set.',
    fix: 'Set API_TOKEN in .env or in the environment of the hub, or write ${API_TOKEN:-default}.',
  });
  expect(invalid(configuration, 'api').problems).toEqual([problem]);
});

test('a missing variable in the address is reported once, not again as a bad address', async () => {
  expect(onlyProblem(await own('servers: { a: { url: "https://${HOST}" } }')).message).toContain('HOST');
  expect(onlyProblem(await own('servers: { a: { command: "${CMD}" } }')).message).toContain('CMD');
});

test('a server that is disabled may wait for its variables', async () => {
  const configuration = await own('servers: { a: { url: "${URL}", enabled: false } }');
  expect(ready(configuration, 'a').enabled).toBe(false);
  expect(onlyProblem(configuration).severity).toBe('warning');
});

test('names from the prototype of the environment are not variables', async () => {
  expect(onlyProblem(await own('servers: { a: { command: "${toString}" } }')).message).toContain('toString');
});

test('the workspace is predefined, whatever the environment says, and is no secret', async () => {
  const configuration = await own('servers: { a: { command: x, args: ["${WORKSPACE_ROOT}"] } }', {
    WORKSPACE_ROOT: '/elsewhere',
  });
  expect(ready(configuration, 'a').transport).toMatchObject({ args: [configuration.workspace] });
  expect(configuration.secrets).toEqual([]);
});

test('expanded values are collected once, short ones not at all, and appear in no problem', async () => {
  const configuration = await own(
    'servers:\n  a: { url: "not-a-url-${LONG}", headers: { "bad name": "${LONG}", B: "${LONG}\\n" } }\n  b: { command: x, env: { A: "${LONG}", B: "${SHORT}", C: "${OTHER:+${OTHER}}" } }\n',
    { LONG: 'long-enough', SHORT: 'abc12', OTHER: 'second secret' },
  );
  expect(configuration.secrets).toEqual(['long-enough', 'second secret']);
  expect(configuration.shortSecrets).toEqual([]);
  expect(configuration.problems.length).toBeGreaterThan(1);
  expect(JSON.stringify(configuration.problems)).not.toContain('long-enough');
});

test(verifies('ledger:redaction', 'short values count as secrets where a name says so'), async () => {
  const configuration = await own(
    'servers:\n  a: { url: "http://h/", headers: { X-Auth-Token: "${PLAIN}", X-Team: "${TEAM}" } }\n  b: { command: x, args: ["${DB_PASSWORD}", "${USE_TOKEN}", "${MAX_TOKENS}", "${MONKEY}"], env: { PIN: "4711", API_KEY: "none", LEVEL: "warn" } }\n',
    { PLAIN: 'ab12', TEAM: 'blue', DB_PASSWORD: 'x1', USE_TOKEN: 'true', MAX_TOKENS: '512', MONKEY: 'bob' },
  );
  expect(configuration.shortSecrets).toEqual(['ab12', 'x1', '4711']);
  expect(configuration.secrets).toEqual([]);
});

test(
  verifies('variables:empty-header', 'a header that expands to nothing is dropped, one that is left is trimmed'),
  async () => {
    const configuration = await own(
      'servers: { a: { url: "https://x.example", headers: { A: "${NONE:-}", B: "", C: " ${V} ", D: "${NONE:+Bearer ${NONE}}" } } }',
      { V: 'v' },
    );
    expect(ready(configuration, 'a').transport).toMatchObject({ headers: { C: 'v' } });
    expect(Object.keys((ready(configuration, 'a').transport as { headers: object }).headers)).toEqual(['C']);
  },
);

test.each([
  ['url: "example.com/mcp"', 'not an http or https address'],
  ['url: "ftp://example.com"', 'not an http or https address'],
  ['url: "https://user:${P}@example.com"', 'user name or password'],
  ['url: "https://x.example", headers: { "a b": c }', 'not a valid header name'],
  ['url: "https://x.example", headers: { A: x, a: y }', 'is set twice'],
  ['url: "https://x.example", headers: { A: "${NEWLINE}" }', 'line break'],
  ['command: "${EMPTY}"', 'expands to nothing'],
  ['command: "~/bin/x"', 'only a shell understands'],
  ['command: x, cwd: "~/x"', 'only a shell understands'],
  ['command: x, args: ["${"]', 'cannot be expanded'],
  ['command: x, args: ["a\\0b"]', 'NUL'],
  ['command: x, env: { "A=B": c }', 'not a valid name of an environment variable'],
])('{ %s } is invalid', async (body, said) => {
  const configuration = await own(`servers: { s: { ${body} } }`, { P: 'pass word', NEWLINE: 'a\nb', EMPTY: '' });
  const problem = onlyProblem(configuration);
  expect(problem).toMatchObject({ severity: 'error', server: 's', line: 1 });
  expect(problem.message).toContain(said);
  expect(configuration.servers.get('s')?.kind).toBe('invalid');
});

test('a command line in one text is pointed out, a path with a blank is not', async () => {
  const configuration = await own('servers:\n  a: { command: npx -y thing }\n  b: { command: "/opt/my app/run" }\n');
  expect(onlyProblem(configuration)).toMatchObject({ severity: 'warning', server: 'a' });
});

test('keys that belong to the other kind of server are pointed out', async () => {
  const configuration = await own('servers: { a: { url: "https://x.example", cwd: . } }');
  expect(onlyProblem(configuration)).toMatchObject({ severity: 'warning', field: 'servers.a.cwd' });
});

test('the connection key covers the expanded transport and nothing else', async () => {
  const keyOf = async (body: string, env: Record<string, string> = {}): Promise<string> => {
    const configuration = await own(`servers: { a: { ${body} } }`, env);
    const { transport, connectionKey }: ServerSpec = ready(configuration, 'a');
    // Each load has a directory of its own; the default cwd would differ.
    expect(transport.type === 'stdio' ? transport.cwd : '/').toBe('/');
    return connectionKey;
  };
  const base = 'command: x, args: [a], env: { A: "1", B: "2" }, cwd: /';
  const key = await keyOf(base);
  for (const same of [
    `${base}, description: d, enabled: false, shared: true, tools: [], limits: { timeout_s: 1 }`,
    'cwd: /, env: { B: "2", A: "1" }, args: ["${V}"], command: x',
  ]) {
    expect(await keyOf(same, { V: 'a' })).toBe(key);
  }
  for (const other of [
    'command: y, args: [a], env: { A: "1", B: "2" }, cwd: /',
    'command: x, args: [b], env: { A: "1", B: "2" }, cwd: /',
    'command: x, args: [a], env: { A: "1", B: "3" }, cwd: /',
    'url: "https://x.example"',
  ]) {
    expect(await keyOf(other)).not.toBe(key);
  }
});

test('the value of a header is not in the connection key, its name is', async () => {
  const keyOf = async (headers: string, env: Record<string, string>): Promise<string> => {
    const configuration = await own(`servers: { a: { url: "https://x.example", headers: ${headers} } }`, env);
    return ready(configuration, 'a').connectionKey;
  };
  const key = await keyOf('{ Authorization: "Bearer ${T}" }', { T: 'first-token' });
  expect(await keyOf('{ Authorization: "Bearer ${T}" }', { T: 'second-token' })).toBe(key);
  expect(await keyOf('{ X-Key: "Bearer ${T}" }', { T: 'first-token' })).not.toBe(key);
});

test(
  verifies('secrets:connection-key', 'no secret is in the connection key, in arguments, variables or addresses'),
  async () => {
    const keyOf = async (body: string, secret: string): Promise<string> => {
      const configuration = await own(`servers: { a: { ${body} } }`, { API_TOKEN: secret, PIN: '1234', MODE: 'all' });
      return ready(configuration, 'a').connectionKey;
    };
    for (const body of [
      'command: x, env: { DATA: "${API_TOKEN}" }, cwd: /',
      'command: x, args: ["--token=${API_TOKEN}"], cwd: /',
      'url: "https://x.example/${API_TOKEN}/mcp"',
    ]) {
      const key = await keyOf(body, 'first-secret-0001');
      expect([body, await keyOf(body, 'second-secret-22')]).toEqual([body, key]);
      expect(await keyOf(body.replace('${API_TOKEN}', '${MODE}'), 'first-secret-0001')).not.toBe(key);
    }
  },
);

test('values that every program of the user can see are not secrets', async () => {
  const configuration = await own('servers:\n  s: { command: x, args: ["${HOME}/tool", "${TOKEN}"] }\n', {
    HOME: '/home/somebody',
    TOKEN: 'long-enough',
  });
  expect(configuration.secrets).toEqual(['long-enough']);
});

test(
  verifies('trust:guarded', 'texts of an earlier approval do not take code that came into the workspace since'),
  async () => {
    const text = JSON.stringify({ servers: { s: { command: ['python3', '-m', 'mcp_server_time'] } } });
    const workspace = await createWorkspace({ 'quartermaster.yaml': text });
    const instead = new Map([['quartermaster.yaml', { kind: 'text' as const, text }]]);
    const guardOf = async (only: boolean) => {
      const { configuration, plans } = await loadWithSources({ env: {} }, { workspace, instead, only });
      const { transport } = ready(configuration, 's');
      return [transport.type === 'stdio' && transport.guard, plans.get('s')?.transports[0]?.texts.at(-1)];
    };
    const ignored = ['ignores', 'Python modules of its folder'];
    for (const only of [false, true]) expect(await guardOf(only)).toEqual(['python', ignored]);
    await writeFile(join(workspace, 'mcp_server_time.py'), '');
    // The plan differs, so that the server waits for approval; the approved version does not start meanwhile.
    expect(await guardOf(false)).toEqual([undefined, ['args.1', 'mcp_server_time']]);
    expect(await guardOf(true)).toEqual(['unapproved', ['args.1', 'mcp_server_time']]);
  },
);
