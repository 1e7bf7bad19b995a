import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { explainSchema } from '../../../src/faces/cli/json-shapes.ts';
import { stdioServer } from '../../support/hub.ts';
import { verifies } from '../../support/verifies.ts';
import { makeWorkspace, type QmResult, runQm } from '../qm.fixture.ts';

const named = ['quiet', '--reads', 'look', '--writes', 'break'];
const team = {
  servers: {
    notes: stdioServer('named-tools.mjs', named, { scopes: ['read:notes'] }),
    forge: stdioServer('named-tools.mjs', named, { writeRequiresApproval: true }),
    hub: { url: 'https://api.githubcopilot.com/mcp/', readOnly: true },
  },
  agents: {
    lead: { servers: ['notes', 'forge'] },
    danny: { role: 'lead' },
    // This server is not on this machine, so its tools are never listed.
    watcher: { servers: ['hub'] },
    rusty: { role: 'watcher' },
  },
};

function qm(workspace: string, ...args: string[]): Promise<QmResult> {
  return runQm([...args, '--workspace', workspace]);
}

async function lineOf(workspace: string, text: string): Promise<number> {
  const lines = (await readFile(join(workspace, 'quartermaster.yaml'), 'utf8')).split('\n');
  return lines.findIndex((line) => line.includes(text)) + 1;
}

test(
  verifies('view:explain', 'explain says why a tool counts as writing, where that is configured, and how to change it'),
  async () => {
    const workspace = await makeWorkspace(team);
    expect((await qm(workspace, 'tools', '--agent', 'lead')).code).toBe(0);
    const scopes = await lineOf(workspace, '"scopes"');
    const approval = await lineOf(workspace, '"writeRequiresApproval"');

    const hidden = await qm(workspace, 'explain', 'notes.look', '--agent', 'lead');
    expect(hidden).toMatchObject({ code: 5, stderr: '' });
    expect(hidden.stdout.split('\n')).toEqual([
      `notes.look is denied: server notes is read-only (quartermaster.yaml:${scopes}), and its readOnlyHint is ignored because the server is not trusted.`,
      'Set trustAnnotations: true if you trust the annotations of server notes, or add a scope that writes (write:notes) if the server may write.',
      '',
    ]);

    const held = await qm(workspace, 'explain', 'forge.break', '--agent', 'danny', '--json');
    expect(held).toMatchObject({ code: 5, stderr: '' });
    expect(explainSchema.parse(JSON.parse(held.stdout))).toEqual({
      agent: 'danny',
      role: 'lead',
      server: 'forge',
      tool: 'break',
      decision: 'ask',
      reason: 'write-approval',
      source: { file: 'quartermaster.yaml', line: approval },
      pattern: null,
      because: 'annotation',
      text: `forge.break needs approval: server forge requires approval for tools that may write (quartermaster.yaml:${approval}), and the server says that the tool writes.`,
      fix: 'Add the exact rule "forge.break: allow" for every agent or for role lead.',
      known: true,
      shadow: null,
    });
  },
);

test('an undiscovered server is explained from the list of known servers, and the output says so', async () => {
  const workspace = await makeWorkspace(team);
  const known = await qm(workspace, 'explain', 'hub.list_issues', '--agent', 'rusty');
  expect(known).toMatchObject({ code: 0 });
  expect(known.stderr).toContain('Agent rusty has role watcher: the entry watcher applies to it.');
  const written = await qm(workspace, 'explain', 'hub.create_issue', '--agent', 'watcher', '--json');
  expect(explainSchema.parse(JSON.parse(written.stdout))).toMatchObject({
    because: 'known-server',
    role: null,
    fix: 'Remove its read-only setting if the server may write.',
  });
  const undiscovered = await qm(workspace, 'explain', 'notes.look', '--agent', 'lead');
  expect(undiscovered.stdout).toContain('the tool is not known to be read-only');
  expect(undiscovered.stdout).toContain('Server notes has not listed its tools yet: run `qm tools --agent lead`.');
  expect(undiscovered.stdout).not.toContain('scope that writes');
});

test(verifies('view:explain', 'a list that decides is named with its own line'), async () => {
  const text = [
    'servers:',
    `  notes: ${JSON.stringify(team.servers.notes)}`,
    `  forge: ${JSON.stringify(team.servers.forge)}`,
    'agents:',
    '  lead:',
    '    servers: [notes, forge]',
    '    tools:',
    '      notes:',
    '        include: [quiet]',
    '      forge:',
    '        exclude:',
    '          - break',
  ];
  const workspace = await makeWorkspace(text.join('\n'));
  const included = await qm(workspace, 'explain', 'notes.look', '--agent', 'lead');
  expect(included.stdout).toContain('not in the include list of agent lead (quartermaster.yaml:9)');
  const excluded = await qm(workspace, 'explain', 'forge.break', '--agent', 'lead', '--json');
  expect(explainSchema.parse(JSON.parse(excluded.stdout))).toMatchObject({
    reason: 'excluded',
    source: { file: 'quartermaster.yaml', line: 11 },
  });
});
