import { afterAll, beforeAll, expect, test } from 'vitest';
import type { DoctorServer } from '../../../src/faces/cli/doctor/diagnosis-shapes.ts';
import { type HttpFixture, startHttpFixture } from '../../support/fixture-servers.ts';
import { verifies } from '../../support/verifies.ts';
import { runQm } from '../qm.fixture.ts';
import { runHere } from '../run-here.fixture.ts';
import { diagnosisOf, pathWithRunners, presetOf, workspaceWith } from './presets-doctor.fixture.ts';

let providers: HttpFixture;

beforeAll(async () => {
  providers = await startHttpFixture('providers.mjs');
});

afterAll(() => providers.stop());

/** What is hosted elsewhere is reached at the fixture: the file differs in the host alone. */
const hosts =
  /https:\/\/(?:mcp\.notion\.com|mcp\.supabase\.com|api\.githubcopilot\.com|mcp\.linear\.app|mcp\.atlassian\.com)/g;

function atFixture(text: string, id: string): string {
  return text.replaceAll(hosts, `${providers.url}/${id}`);
}

/** What it offers to a login that is accepted. */
const offers: Readonly<Record<string, readonly string[]>> = {
  notion: ['notion-search', 'notion-fetch', 'notion-create-pages'],
  supabase: ['list_projects', 'list_tables', 'execute_sql'],
  github: ['issue_read', 'issue_write', 'create_pull_request', 'merge_pull_request'],
  linear: ['list_issues', 'get_issue', 'save_issue'],
  confluence: ['searchConfluence', 'getConfluenceContent', 'createConfluenceContent', 'createJiraIssue'],
  trello: ['list_boards', 'list_cards', 'create_card', 'move_card', 'delete_board'],
  slack: ['send_message', 'list_channels', 'search_messages', 'delete_channel'],
  discord: ['send_message', 'list_channels', 'search_messages', 'delete_channel'],
};
const ids = Object.keys(offers);
const atOwnAddress = ['trello', 'slack', 'discord'];

function envFor(id: string, token: string | undefined): Record<string, string> {
  const { login } = presetOf(id);
  const address = atOwnAddress.includes(id) ? { [`${id.toUpperCase()}_MCP_URL`]: `${providers.url}/${id}/mcp` } : {};
  return { ...address, ...(token === undefined ? {} : { [login.variable ?? '']: `${token}-token-of-${id}` }) };
}

async function doctor(
  id: string,
  token: string | undefined,
  more: Record<string, string> = {},
): Promise<{ code: number | null; server: DoctorServer }> {
  const workspace = await workspaceWith([id], atFixture);
  const env = { ...envFor(id, token), ...more };
  const { code, row } = diagnosisOf(
    await runHere(['doctor', id, '--json', '--timeout', '10'], { cwd: workspace, env }),
    env,
  );
  return { code, server: row(id) };
}

test.each(ids)(verifies('preset:doctor', '%s: a login that is accepted reaches it'), async (id) => {
  const { code, server } = await doctor(id, 'accepted');
  expect(server).toMatchObject({ verdict: 'reachable', transport: 'http', httpStatus: 200, tools: offers[id] });
  expect(server.nextSteps).toEqual([]);
  expect(code).toBe(0);
});

test.each(ids.filter((id) => !atOwnAddress.includes(id)))(
  verifies('preset:doctor', '%s: without a login it asks for one, and the variable is named'),
  async (id) => {
    const { code, server } = await doctor(id, undefined);
    expect(server).toMatchObject({ verdict: 'needs-auth', transport: 'http', httpStatus: 401, tools: null });
    // An answer: neither the fallback nor the older transport is a way around it.
    expect(server.attempts).toHaveLength(1);
    const { login, variables } = presetOf(id);
    const purpose = variables.find(({ name }) => name === login.variable)?.purpose;
    expect(server.nextSteps).toEqual([`Set ${login.variable} in .env or in the environment of the hub: ${purpose}.`]);
    expect(code).toBe(4);
  },
);

test.each(atOwnAddress)(verifies('preset:doctor', '%s: without its variables it is not tried'), async (id) => {
  const { code, server } = await doctor(id, undefined);
  const { login } = presetOf(id);
  expect(server).toMatchObject({ verdict: 'invalid', attempts: [] });
  expect(server.nextSteps).toEqual([
    expect.stringMatching(
      new RegExp(
        `^ops/adk/servers/${id}\\.yaml:\\d+ Server .* "transport\\.headers\\.Authorization" .* Set ${login.variable} in \\.env`,
      ),
    ),
  ]);
  expect(code).toBe(1);
});

test.each(ids)('%s: a login that has expired is to be renewed', async (id) => {
  const { code, server } = await doctor(id, 'expired');
  expect(server).toMatchObject({ verdict: 'needs-auth', httpStatus: 401 });
  expect(server.nextSteps).toEqual([
    expect.stringMatching(
      new RegExp(`the header Authorization of server ${id} \\(ops/adk/servers/${id}\\.yaml:1\\): renew`),
    ),
  ]);
  expect(code).toBe(4);
});

test.each(ids)('%s: a licence or scope that is missing is told from a missing login', async (id) => {
  const { code, server } = await doctor(id, 'unlicensed');
  expect(server).toMatchObject({ verdict: 'auth-failed', httpStatus: 403 });
  expect(server.nextSteps).toEqual([expect.stringMatching(/check the scopes of the token.* licence/)]);
  expect(code).toBe(1);
});

test.each(ids)('%s: a service that is busy says when to come again', async (id) => {
  const { code, server } = await doctor(id, 'busy');
  expect(server).toMatchObject({ verdict: 'unreachable', attempts: [{ httpStatus: 429 }] });
  expect(server.nextSteps).toEqual([expect.stringMatching(/too many requests \(429\): try again in 7 s/)]);
  expect(code).toBe(1);
});

test.each(ids.filter((id) => id !== 'notion'))('%s: a service that is down has no other way', async (id) => {
  const { code, server } = await doctor(id, 'down');
  expect(server).toMatchObject({ verdict: 'unreachable', attempts: [{ transport: 'http', httpStatus: 503 }] });
  expect(server.nextSteps).toEqual([expect.stringMatching(/failed \(503\): look at its logs/)]);
  expect(code).toBe(1);
});

test('notion: where streamable HTTP is gone, its address for the older transport serves', async () => {
  const { code, server } = await doctor('notion', 'moved');
  expect(server).toMatchObject({ verdict: 'reachable', transport: 'sse', tools: offers.notion, nextSteps: [] });
  expect(server.attempts).toMatchObject([
    { transport: 'http', implicit: false, httpStatus: 404 },
    { transport: 'sse', implicit: true, httpStatus: 404 },
    { transport: 'sse', implicit: false, verdict: 'reachable' },
  ]);
  expect(code).toBe(0);
});

test('notion: where both are down, mcp-remote is started', async () => {
  const { code, server } = await doctor('notion', 'down', { PATH: await pathWithRunners() });
  expect(server).toMatchObject({ verdict: 'reachable', transport: 'stdio', tools: ['notion-search', 'notion-fetch'] });
  expect(server.attempts.map(({ transport, httpStatus }) => [transport, httpStatus])).toEqual([
    ['http', 503],
    ['sse', 503],
    ['stdio', null],
  ]);
  expect(code).toBe(0);
});

test('supabase: the project is in the address', async () => {
  const { server } = await doctor('supabase', 'accepted', { MAGSAG_MCP_SUPABASE_PROJECT_REF: 'abcdefgh' });
  expect(server).toMatchObject({ verdict: 'reachable', tools: ['list_tables', 'execute_sql'] });
});

test('confluence: another address is taken from its variable', async () => {
  const { server } = await doctor('confluence', 'accepted', {
    CONFLUENCE_MCP_URL: `${providers.url}/confluence/v2/mcp`,
  });
  expect(server).toMatchObject({ verdict: 'reachable', tools: ['discover', 'execute'] });
});

test(verifies('preset:doctor', 'all hosted ones together, by the program itself'), async () => {
  const workspace = await workspaceWith(ids, atFixture);
  const env = Object.assign({}, ...ids.map((id) => envFor(id, 'accepted')));
  const { code, row } = diagnosisOf(await runQm(['doctor', '--json', '--workspace', workspace], { env }), env);
  expect(ids.map((id) => [id, row(id).verdict])).toEqual(ids.map((id) => [id, 'reachable']));
  expect(code).toBe(0);
});
