import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { verifies } from '../../support/verifies.ts';
import { makeWorkspace, type QmResult } from '../qm.fixture.ts';
import { runHere } from '../run-here.fixture.ts';

const agentFile = 'catalog/agents/main/writer/agent.yaml';

/** A workspace with one agent in its own file. */
async function withWriter(config: string): Promise<string> {
  const workspace = await makeWorkspace(config);
  await mkdir(dirname(join(workspace, agentFile)), { recursive: true });
  await writeFile(join(workspace, agentFile), 'requires: { mcp: [a] }\n');
  return workspace;
}

function add(workspace: string, ...args: string[]): Promise<QmResult> {
  return runHere(['add', 'b', '--no-start', ...args, '--', 'node'], { cwd: workspace });
}

test(
  verifies('edit:route', 'adding a route for an agent with its own file is refused, other agents are routed'),
  async () => {
    const workspace = await withWriter('servers: { a: { command: node } }\n');
    const refused = await add(workspace, '--agent', 'writer');
    expect(refused).toMatchObject({ code: 2, stdout: '' });
    expect(refused.stderr).toContain(`Agent writer is described in ${agentFile}:1; an entry in quartermaster.yaml`);
    expect(refused.stderr).toContain('Leave --agent out, and name b there.');
    const added = await add(workspace, '--agent', 'lead');
    expect(added.code).toBe(0);
    expect(added.stderr).toMatch(/^Added agent lead in quartermaster\.yaml\.\nAgents that have it: lead\.\n/);
  },
);

test('a list under requires.mcp is extended like one under servers', async () => {
  const workspace = await makeWorkspace(
    'servers: { a: { command: node } }\nagents: { lead: { requires: { mcp: [a] } } }\n',
  );
  expect(await add(workspace, '--agent', 'lead')).toMatchObject({ code: 0 });
  expect(parse(await readFile(join(workspace, 'quartermaster.yaml'), 'utf8')).agents).toEqual({
    lead: { requires: { mcp: ['a', 'b'] } },
  });
});

test(verifies('config:agent-files', 'qm ls names the hidden file, and exits 3 if one is broken'), async () => {
  const hidden = await withWriter('servers: { a: { command: node } }\nagents:\n  writer: { servers: [] }\n');
  const told = await runHere(['ls'], { cwd: hidden });
  expect(told.code).toBe(0);
  expect(told.stderr).toContain(`Agent "writer" of ${agentFile}:1 is overridden by the one in quartermaster.yaml:3.`);
  await writeFile(join(hidden, agentFile), 'policies: { tools: { a.x: maybe } }\n');
  expect(await runHere(['ls'], { cwd: hidden })).toMatchObject({ code: 3 });
});
