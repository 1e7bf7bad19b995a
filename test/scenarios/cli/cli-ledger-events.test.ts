import { readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ledgerEventSchema, ledgerHeadSchema, ledgerVerifySchema } from '../../../src/faces/cli/calls/ledger-shapes.ts';
import { stdioServer } from '../../support/hub.ts';
import { layoutOf } from '../../support/state-home.ts';
import { verifies } from '../../support/verifies.ts';
import { makeWorkspace, runQm, serveQm } from '../qm.fixture.ts';

const team = { servers: { echo: stdioServer('echo-stdio.mjs') }, agents: { tester: { servers: ['echo'] } } };

async function events(workspace: string): Promise<string[]> {
  const { stdout, code } = await qm(workspace, 'ledger', 'events', '--json');
  expect(code).toBe(0);
  const all = stdout.split('\n').flatMap((line) => (line === '' ? [] : [ledgerEventSchema.parse(JSON.parse(line))]));
  return all.map(({ who, how, what, subject, failed }) =>
    [who, how, what, subject, ...(failed ? ['failed'] : [])].join(' '),
  );
}

function qm(workspace: string, ...args: string[]) {
  const at = args.includes('--') ? args.indexOf('--') : args.length;
  return runQm(args.toSpliced(at, 0, '--workspace', workspace));
}

async function doEverything(workspace: string): Promise<string> {
  const { id } = JSON.parse((await qm(workspace, 'token', 'issue', '--agent', 'tester', '--json')).stdout) as {
    id: string;
  };
  await qm(workspace, 'token', 'revoke', id);
  await qm(workspace, 'trust', '--all');
  await runQm(['secret', 'set', 'API_KEY', '--workspace', workspace], { input: 'hunter2hunter2' });
  await qm(workspace, 'secret', 'rm', 'API_KEY');
  await qm(workspace, 'add', 'extra', '--', 'node', 'extra.mjs');
  await qm(workspace, 'disable', 'extra');
  await qm(workspace, 'enable', 'extra');
  await qm(workspace, 'remove', 'extra');
  await qm(workspace, 'trust', '--revoke', 'echo');
  return id;
}

function expectedActs(id: string): string[] {
  return [
    `token.issued ${id}`,
    `token.revoked ${id}`,
    'trust.approved server echo',
    'trust.approved rules',
    'secret.set API_KEY',
    'secret.removed API_KEY',
    'server.added extra',
    'server.disabled extra',
    'server.enabled extra',
    'server.removed extra',
    'trust.revoked server echo',
    'trust.declined server echo',
  ].map((act) => `operator command ${act}`);
}

function journalTexts(workspace: string): string {
  const { journal } = layoutOf(workspace);
  return readdirSync(journal)
    .map((file) => readFileSync(join(journal, file), 'utf8'))
    .join('');
}

/** The example of the page. */
function documented(): string {
  const page = readFileSync(join(import.meta.dirname, '../../../docs/ledger.md'), 'utf8');
  return page.slice(page.indexOf('```\n$ qm ledger events'));
}

test(verifies('ledger:acts', 'acts of the operator are in one chain without a running hub'), async () => {
  const workspace = await makeWorkspace(team);
  const acts = expectedActs(await doEverything(workspace));
  expect(await events(workspace)).toEqual(expect.arrayContaining(acts));
  expect(journalTexts(workspace)).not.toContain('hunter2');
  const report = ledgerVerifySchema.parse(JSON.parse((await qm(workspace, 'ledger', 'verify', '--json')).stdout));
  expect(report).toMatchObject({ ok: true, findings: [] });
  const head = ledgerHeadSchema.parse(JSON.parse((await qm(workspace, 'ledger', 'head', '--json')).stdout));
  // One head covers all: each act names the one before it.
  expect(head?.seq).toBe(report.writes);
  const cef = (await qm(workspace, 'ledger', 'export', '--format', 'cef')).stdout;
  expect(cef).toMatch(/\|secret\.set\|secret\.set API_KEY\|3\|rt=\d+ suser=operator act=secret\.set outcome=recorded /);
  const words = (text: string): string[] => text.trim().split(/ {2,}/);
  const [, , titles = '', , example = ''] = documented().split('\n');
  const shown = (await qm(workspace, 'ledger', 'events')).stdout.split('\n').map(words);
  expect(shown[0]).toEqual(words(titles));
  const [, who, how, what, , detail] = words(example);
  expect(shown[1]?.slice(1)).toEqual([who, how, what, expect.any(String), detail]);
});

test(verifies('ledger:acts', 'a running hub writes the acts of commands'), async () => {
  const workspace = await makeWorkspace(team);
  const hub = await serveQm(workspace);
  const before = readdirSync(layoutOf(workspace).journal);
  const acts = expectedActs(await doEverything(workspace));
  expect(await events(workspace)).toEqual(expect.arrayContaining(acts));
  expect(readdirSync(layoutOf(workspace).journal)).toEqual(before);
  const token = readFileSync(layoutOf(workspace).adminToken, 'utf8').trim();
  const answer = await fetch(`${hub.url}/api/tokens`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: '{"agent":"tester"}',
  });
  const { id } = (await answer.json()) as { id: string }; // checked by the tests of the API
  expect(await events(workspace)).toContain(`operator api token.issued ${id}`);
  hub.signal('SIGTERM');
  await hub.ended();
});

test(verifies('ledger:acts', 'many commands at once lose no act and fork no chain'), async () => {
  const workspace = await makeWorkspace(team);
  const agents = Array.from({ length: 6 }, (_, at) => `agent${at}`);
  const issue = (agent: string) => qm(workspace, 'token', 'issue', '--agent', agent, '--json');
  const hub = serveQm(workspace);
  const results = await Promise.all(agents.map(issue));
  const ids = results.map(({ stdout }) => (JSON.parse(stdout) as { id: string }).id);
  expect(await events(workspace)).toEqual(
    expect.arrayContaining(ids.map((id) => `operator command token.issued ${id}`)),
  );
  const running = await hub;
  running.signal('SIGTERM');
  await running.ended();
  expect(JSON.parse((await qm(workspace, 'ledger', 'verify', '--json')).stdout)).toMatchObject({ ok: true });
});

test(verifies('ledger:acts', 'without a record nothing is granted, and rights can still be taken away'), async () => {
  const workspace = await makeWorkspace(team);
  const { id } = JSON.parse((await qm(workspace, 'token', 'issue', '--agent', 'tester', '--json')).stdout) as {
    id: string;
  };
  // The ledger does not start beside a link that leads its copies elsewhere.
  symlinkSync(tmpdir(), join(workspace, '.runs'));
  const refused = await qm(workspace, 'token', 'issue', '--agent', 'tester');
  expect(refused).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('Nothing was changed') });
  const revoked = await qm(workspace, 'token', 'revoke', id);
  expect(revoked).toMatchObject({ code: 0, stderr: expect.stringContaining('The audit log lacks this act') });
  expect(JSON.parse((await qm(workspace, 'token', 'ls', '--json')).stdout)).toEqual([]);
});
