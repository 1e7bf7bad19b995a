import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { isJsonObject } from '../../../src/base/index.ts';
import { auditToolsSchema, toolsSchema } from '../../../src/faces/cli/json-shapes.ts';
import { stdioServer } from '../../support/hub.ts';
import { verifies } from '../../support/verifies.ts';
import { makeWorkspace, type QmResult } from '../qm.fixture.ts';
import { runHere } from '../run-here.fixture.ts';

function qm(workspace: string, ...args: string[]): Promise<QmResult> {
  const options = { cwd: tmpdir(), env: { PATH: process.env.PATH ?? '', HOME: tmpdir(), CI: '1' } };
  return runHere([...args, '--workspace', workspace], options);
}

async function audit(workspace: string, ...args: string[]) {
  const { stdout, stderr, code } = await qm(workspace, 'audit', 'tools', '--json', ...args);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return auditToolsSchema.parse(JSON.parse(stdout));
}

async function toolsOf(workspace: string, agent: string): Promise<string[]> {
  const { stdout } = await qm(workspace, 'tools', '--agent', agent, '--json');
  return toolsSchema.parse(JSON.parse(stdout)).map(({ server, tool }) => `${server}.${tool}`);
}

async function call(workspace: string, agent: string, tool: string, ...args: string[]): Promise<void> {
  expect((await qm(workspace, 'call', tool, '--agent', agent, ...args)).code).toBe(0);
}

/** As a person would: what the snippet has goes into the file, and what was there stays. */
async function apply(workspace: string, file: string, snippet: string): Promise<void> {
  const path = join(workspace, file);
  const before: unknown = parse(await readFile(path, 'utf8'));
  const merged = merge(before, parse(snippet));
  await writeFile(path, file.endsWith('.json') ? JSON.stringify(merged) : stringify(merged));
}

function merge(before: unknown, more: unknown): unknown {
  if (!isJsonObject(before) || !isJsonObject(more)) return more;
  const keys = [...new Set([...Object.keys(before), ...Object.keys(more)])];
  return Object.fromEntries(keys.map((key) => [key, key in more ? merge(before[key], more[key]) : before[key]]));
}

const odd = ['true', '0', 'sp ace', 'per.iod', 'quo"te', 'files_read', 'star*'];
const servers = {
  files: stdioServer('named-tools.mjs', ['read', 'write', 'move', ...odd]),
  notes: stdioServer('named-tools.mjs', ['look', 'keep']),
};

test(verifies('audit:unused', 'the snippet removes what an agent did not use, and nothing else'), async () => {
  const agents = {
    tester: { servers: ['files', 'notes'], tools: { files: { exclude: ['move'] } } },
    lead: { servers: ['files', 'notes'] },
  };
  const workspace = await makeWorkspace({ servers, agents });
  await call(workspace, 'tester', 'files.read', '--run', 'first');
  await call(workspace, 'tester', 'files.read', '--run', 'second');
  await call(workspace, 'lead', 'notes.keep');
  const lead = await toolsOf(workspace, 'lead');
  const [one, two, ...more] = await audit(workspace);
  expect([one?.agent, two?.agent, more]).toEqual(['lead', 'tester', []]);
  expect(two).toMatchObject({ calls: 2, runs: 2, undiscovered: [], file: 'quartermaster.yaml' });
  expect(two?.tools.filter(({ uses }) => uses > 0)).toMatchObject([{ name: 'files_read', tool: 'read', uses: 2 }]);
  expect(two?.tools.map(({ tool }) => tool)).not.toContain('move');
  await apply(workspace, two?.file ?? '', two?.snippet ?? '');
  // A list cannot name a tool with a star alone.
  expect(await toolsOf(workspace, 'tester')).toEqual(['files.read', 'files.star*']);
  expect(await toolsOf(workspace, 'lead')).toEqual(lead);
  expect((await audit(workspace, '--agent', 'tester'))[0]?.snippet).toBeNull();
});

test(verifies('audit:unused', 'sizes are a quarter of the bytes that the list has for each tool'), async () => {
  const workspace = await makeWorkspace({ servers: { notes: servers.notes } });
  await call(workspace, 'tester', 'notes.look');
  const [report] = await audit(workspace);
  const entry = { name: 'notes_keep', description: 'Says keep', inputSchema: { type: 'object' } };
  const tokens = Math.ceil(JSON.stringify(entry).length / 4);
  expect(report?.tools.find(({ tool }) => tool === 'keep')).toMatchObject({ tokens, uses: 0, lastUsed: null });
  expect(report).toMatchObject({ unusedTokens: tokens, tokens: 2 * tokens });
});

test('without an entry of its own, an agent gets one that leaves its other rights as they are', async () => {
  const workspace = await makeWorkspace({ servers });
  await call(workspace, 'tester', 'notes.look');
  const [report] = await audit(workspace, '--agent', 'tester');
  await apply(workspace, 'quartermaster.yaml', report?.snippet ?? '');
  expect(await toolsOf(workspace, 'tester')).toEqual(['files.star*', 'notes.look']);
  expect(await toolsOf(workspace, 'other')).toHaveLength(12);
});

test('an agent with a role gets an entry that narrows the role, for itself alone', async () => {
  const agents = { lead: { servers: ['notes'] }, danny: { role: 'lead' }, rusty: { role: 'lead' } };
  const workspace = await makeWorkspace({ servers, agents });
  await call(workspace, 'danny', 'notes.keep');
  const reports = await audit(workspace);
  expect(reports.map(({ agent, calls }) => [agent, calls])).toEqual([
    ['danny', 1],
    ['rusty', 0],
  ]);
  await apply(workspace, 'quartermaster.yaml', reports[0]?.snippet ?? '');
  expect(await toolsOf(workspace, 'danny')).toEqual(['notes.keep']);
  expect(await toolsOf(workspace, 'rusty')).toEqual(['notes.keep', 'notes.look']);
});

test("agents of Squad's file and of their own file get the snippet for that file", async () => {
  const workspace = await makeWorkspace({ servers });
  const write = async (file: string, text: string): Promise<void> => {
    await mkdir(dirname(join(workspace, file)), { recursive: true });
    await writeFile(join(workspace, file), text);
  };
  const squad = { agentServers: { tester: ['notes'], lead: ['files'] } };
  await write('.squad/mcp-config.json', JSON.stringify(squad));
  await write('catalog/agents/offers/agent.yaml', 'slug: offers\nrequires: { mcp: [notes] }\n');
  for (const agent of ['tester', 'offers']) {
    await call(workspace, agent, 'notes.look');
    const [report] = await audit(workspace, '--agent', agent);
    await apply(workspace, report?.file ?? '', report?.snippet ?? '');
    expect([report?.file, await toolsOf(workspace, agent)]).toEqual([
      agent === 'tester' ? '.squad/mcp-config.json' : 'catalog/agents/offers/agent.yaml',
      ['notes.look'],
    ]);
  }
  expect(await toolsOf(workspace, 'lead')).toHaveLength(10);
});

test(verifies('audit:unused', 'an agent without calls gets no advice, and a denied call is no use'), async () => {
  const agents = { tester: { servers: ['files'] }, lead: { servers: ['notes'] } };
  const workspace = await makeWorkspace({ servers, agents });
  expect((await qm(workspace, 'call', 'notes.look', '--agent', 'tester')).code).toBe(5);
  await qm(workspace, 'doctor');
  const [lead, tester, ...more] = await audit(workspace);
  expect(more).toEqual([]);
  expect(lead).toMatchObject({ agent: 'lead', calls: 0, snippet: null });
  expect(tester?.tools.filter(({ uses }) => uses > 0)).toEqual([]);
  const { stdout, stderr } = await qm(workspace, 'audit', 'tools', '--agent', 'lead');
  expect(stdout).toBe('lead  no calls, so nothing shows what it needs; it sees 2 tools, about 40 tokens\n');
  expect(stderr).toMatch(/^The audit log was read from .* on\.\n$/);
});

test('the text for people, and mistakes in the options', async () => {
  const workspace = await makeWorkspace({ servers: { notes: servers.notes, far: { command: 'no-such-program' } } });
  await call(workspace, 'tester', 'notes.look');
  const { stdout } = await qm(workspace, 'audit', 'tools');
  expect(stdout.split('\n')).toEqual([
    'tester  1 call in 1 run; 1 of 2 tools unused, about 20 of 40 tokens',
    'UNUSED      TOKENS',
    'notes.keep      20',
    'Not counted, because nobody listed their tools yet: far.',
    '',
    'To remove them, merge this into quartermaster.yaml:',
    'agents:',
    '  tester:',
    '    tools:',
    '      notes:',
    '        exclude:',
    '          - keep',
    '',
  ]);
  expect(await audit(workspace, '--since', '7d')).toHaveLength(1);
  expect((await qm(workspace, 'audit', 'tools', '--since', 'never')).code).toBe(2);
  expect((await qm(workspace, 'audit', 'tools', '--agent', 'a b')).code).toBe(2);
});
