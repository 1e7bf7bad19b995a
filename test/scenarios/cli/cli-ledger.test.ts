import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { stdioServer } from '../../support/hub.ts';
import { layoutOf } from '../../support/state-home.ts';
import { verifies } from '../../support/verifies.ts';
import { makeWorkspace, runQm, serveQm } from '../qm.fixture.ts';

const team = { servers: { echo: stdioServer('echo-stdio.mjs') }, agents: { tester: { servers: ['echo'] } } };

async function workspaceWithCalls(count: number): Promise<string> {
  const workspace = await makeWorkspace(team);
  for (let number = 0; number < count; number++) await callEcho(workspace, `m${number}`);
  return workspace;
}

function callEcho(workspace: string, message: string) {
  return runQm([
    'call',
    'echo.echo',
    `message=${message}`,
    '--agent',
    'tester',
    '--run',
    'r1',
    '--workspace',
    workspace,
  ]);
}

function ledger(workspace: string, ...args: string[]) {
  return runQm(['ledger', ...args, '--workspace', workspace]);
}

test(verifies('ledger:chain', 'qm ledger verify tells a whole log from one that somebody changed'), async () => {
  const workspace = await workspaceWithCalls(2);
  const head = (await ledger(workspace, 'head')).stdout.trim();
  expect(head).toMatch(/^[0-9a-f]{64}@\d+$/);
  const hub = await serveQm(workspace);
  await callEcho(workspace, 'live');
  expect(await ledger(workspace, 'verify', '--head', head)).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('Unchanged since the given head'),
  });
  hub.signal('SIGTERM');
  await hub.ended();
  const folder = layoutOf(workspace).journal;
  const [first = ''] = readdirSync(folder).sort();
  writeFileSync(join(folder, first), readFileSync(join(folder, first), 'utf8').replace('"m0"', '"mX"'));
  const changed = await ledger(workspace, 'verify');
  expect(changed).toMatchObject({ code: 1, stdout: expect.stringMatching(/PROBLEM {2}changed at sequence \d+: /) });
  expect(JSON.parse((await ledger(workspace, 'verify', '--json')).stdout)).toMatchObject({ ok: false, problems: 1 });
  const wrong = await ledger(workspace, 'verify', '--head', 'x');
  expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining('is not a head of the audit log') });
});

test(verifies('ledger:export', 'the export carries the chain, and goes on where it was acknowledged'), async () => {
  const workspace = await workspaceWithCalls(1);
  const bodies: string[] = [];
  let refusals = 1;
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => {
      body += text;
    });
    request.on('end', () => {
      response.statusCode = refusals-- > 0 ? 503 : 204;
      if (response.statusCode === 204) bodies.push(body);
      response.end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const to = `http://127.0.0.1:${(server.address() as AddressInfo).port}/in`; // a TCP server has an address of this form
  const cursor = join(workspace, '..', `${workspace.split('/').at(-1)}.cursor`);
  const send = () => ledger(workspace, 'export', '--to', to, '--cursor', cursor, '--json');
  expect(await send()).toMatchObject({ code: 0 });
  await callEcho(workspace, 'later');
  expect(await send()).toMatchObject({ code: 0 });
  expect(JSON.parse((await send()).stdout)).toEqual({ lines: 0 });
  const journal = readdirSync(layoutOf(workspace).journal).sort();
  const texts = journal.map((file) => readFileSync(join(layoutOf(workspace).journal, file), 'utf8'));
  expect(bodies.join('')).toBe(texts.join(''));
});

test(verifies('ledger:export', 'CEF has one event for each call, with the head of the chain'), async () => {
  const workspace = await workspaceWithCalls(2);
  const { stdout } = await ledger(workspace, 'export', '--format', 'cef');
  const [first = '', second = '', ...more] = stdout.trimEnd().split('\n');
  expect(more).toEqual([]);
  expect(first).toMatch(/^CEF:0\|Quartermaster\|qm\|[\d.]+\|ok\|echo\.echo\|1\|rt=\d+ externalId=\S+ suser=tester /);
  expect(second).toMatch(/cs3Label=chain cs3=[0-9a-f]{64}@\d+/);
});
