import { readdir, writeFile } from 'node:fs/promises';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { inspectSchema } from '../../../src/faces/cli/json-shapes.ts';
import { fixturePath, startHttpFixture } from '../../support/fixture-servers.ts';
import { verifies } from '../../support/verifies.ts';
import { eventually } from '../../support/within.ts';
import { makeWorkspace, runQm, startQm } from '../qm.fixture.ts';

const echo = [process.execPath, fixturePath('echo-stdio.mjs')];

/** A server that refuses everybody, and remembers what was sent to it. */
async function refusingServer(): Promise<{ url: string; seen: IncomingHttpHeaders[] }> {
  const seen: IncomingHttpHeaders[] = [];
  const server = createServer((request, response) => {
    seen.push(request.headers);
    response.writeHead(401).end(`no: ${request.headers.authorization ?? ''}`);
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  onTestFinished(() => new Promise<void>((done) => server.close(() => done())));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`, seen };
}

test(verifies('inspect:given', 'a program after -- is started, listed and ended, without a trace'), async () => {
  const workspace = await makeWorkspace();
  const { code, stdout, stderr } = await runQm(['inspect', '--', ...echo], { cwd: workspace });
  expect(code, stderr).toBe(0);
  expect(stdout).toContain('echo(message)');
  expect(stdout).not.toContain('configured');
  expect(stderr).toMatch(/It is not configured\. To add it:\n {2}\S+ add echo-stdio -- /);
  expect(await readdir(workspace)).toEqual([]);
  const asJson = await runQm(['inspect', '--json', '--tool', 'add', '--', ...echo], { cwd: workspace });
  expect(JSON.parse(asJson.stdout)).toMatchObject({ name: 'add' });
  expect(asJson.stderr).toBe('');
});

test(verifies('inspect:given', 'a URL is inspected, also next to a broken configuration'), async () => {
  const workspace = await makeWorkspace('servers: [');
  const http = await startHttpFixture('echo-http.mjs');
  onTestFinished(() => http.stop());
  const { code, stdout, stderr } = await runQm(['inspect', http.url, '--json'], { cwd: workspace });
  expect(code, stderr).toBe(0);
  const answer = inspectSchema.parse(JSON.parse(stdout));
  expect(answer).toMatchObject({ name: '127.0.0.1', source: null, transport: 'http' });
  expect(answer.tools.map(({ name }) => name)).toContain('echo');
});

test(verifies('inspect:given', 'nothing but the given headers is sent, and they are shown nowhere'), async () => {
  const { url, seen } = await refusingServer();
  const workspace = await makeWorkspace({ servers: { same: { url, headers: { 'X-Stored': 'configured-value' } } } });
  await writeFile(join(workspace, '.env'), 'DOCS_TOKEN=from-dot-env\n');
  const env = { DOCS_TOKEN: 'from-environment', GITHUB_TOKEN: 'ghp_fromenvironment0123456789' };
  const without = await runQm(['inspect', url], { cwd: workspace, env });
  expect(without.code).toBe(4);
  expect(without.stderr).toContain('Send a token with the request: --header "Authorization: Bearer $TOKEN".');
  const token = 'given-on-the-command-line';
  const args = ['inspect', url, '--header', `Authorization: Bearer ${token}`, '--log-level', 'debug'];
  const given = await runQm(args, { cwd: workspace, env });
  expect(given.code).toBe(4);
  expect(given.stderr).toContain('The server does not accept the header Authorization: check its value.');
  expect(given.stdout + given.stderr).not.toContain(token);
  expect(seen.map(({ authorization }) => authorization)).toEqual(
    expect.arrayContaining([undefined, `Bearer ${token}`]),
  );
  expect(JSON.stringify(seen)).not.toMatch(/from-dot-env|from-environment|ghp_|configured-value/);
});

test(verifies('inspect:given', 'a program gets the variables it is given, and no others'), async () => {
  const tell = `for (const name of ['GIVEN', 'OTHER', 'QM_STATE_DIR']) process.stderr.write(name + '=' + process.env[name] + ' '); process.exit(1)`;
  const args = ['inspect', '--env', 'GIVEN=not-shown-either', '--', process.execPath, '-e', tell];
  const { code, stderr } = await runQm(args, { env: { OTHER: 'of-the-environment' } });
  expect(code).toBe(1);
  expect(stderr).toContain('GIVEN=[redacted] OTHER=undefined QM_STATE_DIR=undefined');
});

test(verifies('inspect:given', 'a failure is explained as in qm doctor, with the same exit code'), async () => {
  const refused = await runQm(['inspect', 'http://127.0.0.1:9/mcp']);
  expect(refused.code).toBe(1);
  expect(refused.stderr).toContain('Nothing listens at 127.0.0.1:9: start the server, or correct the URL.');
  const missing = await runQm(['inspect', '--', 'no-such-program']);
  expect(missing.code).toBe(1);
  expect(missing.stderr).toContain('"no-such-program" was not found on PATH');
  expect(refused.stderr + missing.stderr).not.toMatch(/quartermaster\.yaml|configured in/);
});

test('Ctrl-C ends the program and leaves no folder behind', async () => {
  const folder = await makeWorkspace();
  const args = ['inspect', '--', process.execPath, '-e', 'setInterval(() => {}, 1000)'];
  const hanging = startQm(args, { env: { TMPDIR: folder } });
  await eventually(async () => (await readdir(folder)).length > 0 || undefined, 'the folder of the inspection');
  hanging.signal('SIGINT');
  expect(await hanging.ended()).toMatchObject({ code: 130, stdout: '' });
  expect(await readdir(folder)).toEqual([]);
});

test.each([
  [['inspect', 'a', 'b'], /One server at a time/],
  [['inspect', 'https://a.example', '--env', 'A=1'], /--env applies to a program only/],
  [['inspect', 'ftp://a.example'], /Only http and https URLs can be inspected/],
  [['inspect', 'https://a.example', '--header', 'A'], /needs "Name: value"\. For instance .* Bearer \$TOKEN"\./],
  [['inspect', 'https://a.example', '--header', 'A: Bearer '], /--header A has no value\. If it is a variable, set it/],
  [['inspect', 'files', '--header', 'A: b'], /--header applies to a URL only/],
  [['inspect', '--header', 'A: b', '--', 'node'], /--header does not apply to a program/],
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the shell would have expanded it.
  [['inspect', 'https://a.example', '--header', 'A: Bearer ${TOKEN}'], /is not expanded\. In double quotes/],
])('%j is a usage error that says what to write', async (args, said) => {
  const { code, stdout, stderr } = await runQm(args);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toMatch(said);
});
