import { rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { verifies } from '../../../test/support/verifies.ts';
import type { AgentSpec, Configuration } from '../../domain/index.ts';
import { loadConfiguration } from '../load-configuration.ts';
import { createWorkspace, load, onlyProblem } from '../workspace.fixture.ts';

const servers = '{"mcpServers":{"github":{"command":"x"},"notion":{"command":"y"},"files":{"command":"z"}}}';
const file = 'catalog/agents/main/offers/agent.yaml';

function agents(files: Readonly<Record<string, string>>): Promise<Configuration> {
  return load({ '.mcp.json': servers, ...files });
}

/** One agent file, where `body` stands beside a slug. */
async function offers(body: string): Promise<{ configuration: Configuration; agent: AgentSpec | undefined }> {
  const configuration = await agents({ [file]: `slug: offers\n${body}` });
  return { configuration, agent: configuration.agents.get('offers') };
}

/** With the keys of the framework's own files. */
const whole = `slug: "offers"
name: "OffersMAG"
role: "main"
version: "0.1.0"
entrypoint: "catalog/agents/main/offers/src/index.ts:run"
depends_on:
  sub_agents: ["advisor"]
requires:
  mcp:
    - "notion"
    - "github"
  skills: ["skill.summarise"]
contracts: {}
budgets: { tokens: 100000, time_s: 30 }
evaluation:
  retry_policy: { max_attempts: 1 }
policies:
  retention: short
  tools:
    github.create_issue: require-approval
    notion.delete_page: deny
    "notion.*": allow
`;

test(verifies('config:agent-files', 'the servers and rules of an agent, and no word about the rest'), async () => {
  const configuration = await agents({ [file]: whole });
  expect(configuration.problems).toEqual([]);
  expect(configuration.files).toEqual([file, '.mcp.json']);
  const source = { file, line: 1 };
  expect([...configuration.agents.values()]).toEqual([
    {
      name: 'offers',
      source,
      servers: ['notion', 'github'],
      tools: new Map(),
      policy: {
        source: { file, line: 18 },
        rules: [
          { pattern: 'github.create_issue', effect: 'require-approval', source: { file, line: 20 } },
          { pattern: 'notion.delete_page', effect: 'deny', source: { file, line: 21 } },
          { pattern: 'notion.*', effect: 'allow', source: { file, line: 22 } },
        ],
      },
    },
  ]);
  expect(configuration.roles.size).toBe(0);
});

test.each([
  ['slug: a\nid: b\nname: C\n', 'a'],
  ['id: b\nname: C\n', 'b'],
  ['name: Käthe Kollwitz 🔧\n', 'kathe-kollwitz'],
  ['name: 花子\n', 'offers'],
  ['slug:\nversion: 1\n', 'offers'],
  ['slug: 007\n', '007'],
])('the name is the slug, else the id, else the name, else the folder: %j', async (text, name) => {
  const configuration = await agents({ [file]: text });
  expect(configuration.problems).toEqual([]);
  expect([...configuration.agents.keys()]).toEqual([name]);
});

test('folders may lie deep; templates, hidden folders and packages are not read', async () => {
  const configuration = await agents({
    'catalog/agents/a/agent.yaml': 'version: 1\n',
    'catalog/agents/deep/down/b/agent.yml': 'version: 1\n',
    'catalog/agents/a/inner/agent.yaml': 'version: 1\n',
    'catalog/agents/_template/x/agent.yaml': 'broken: [',
    'catalog/agents/main/_old/agent.yaml': 'broken: [',
    'catalog/agents/.git/agent.yaml': 'broken: [',
    'catalog/agents/a/node_modules/y/agent.yaml': 'broken: [',
    'catalog/agents/a/other.yaml': 'broken: [',
    'catalog/other/c/agent.yaml': 'broken: [',
  });
  expect(configuration.problems).toEqual([]);
  expect([...configuration.agents.keys()].sort()).toEqual(['a', 'b', 'inner']);
});

test('a link to a folder is looked into, and a ring of links has an end', async () => {
  const workspace = await createWorkspace({ 'elsewhere/agent.yaml': 'slug: linked\n', 'catalog/agents/a/x': '' });
  await symlink('../../elsewhere', join(workspace, 'catalog/agents/link'));
  await symlink('..', join(workspace, 'catalog/agents/a/ring'));
  await symlink('nowhere', join(workspace, 'catalog/agents/dead'));
  const configuration = await loadConfiguration({ env: {} }, { workspace });
  expect(configuration.problems).toEqual([]);
  expect([...configuration.agents.keys()]).toEqual(['linked']);
});

test('servers may be maps with an id or a name; what else stands there is told', async () => {
  const { configuration, agent } = await offers(
    'requires:\n  mcp:\n    - github\n    - { id: notion, name: N }\n    - name: files\n      version: 1\n',
  );
  expect(agent?.servers).toEqual(['github', 'notion', 'files']);
  expect(onlyProblem(configuration)).toMatchObject({
    severity: 'warning',
    line: 7,
    field: 'requires.mcp.2.version',
    message: 'Agent "offers": the key "version" next to the server "files" is ignored.',
  });
});

test.each([
  ['requires:\n  mcp:\n    - name: files\n      tools: [read]\n', 'requires.mcp.0.tools'],
  ['requires: { mcp: [files] }\nallowed_tools: [files.read]\n', 'allowed_tools'],
  ['requires: { mcp: [files] }\npolicies: { deny: [files.write] }\n', 'policies.deny'],
])(verifies('config:restrictions', 'an agent with %j gets no tools'), async (text, field) => {
  const { configuration, agent } = await offers(text);
  expect(agent?.servers).toEqual([]);
  expect(onlyProblem(configuration)).toMatchObject({ severity: 'error', field });
});

test('an agent with an empty requires.mcp gets nothing; without the key it is not routed', async () => {
  expect((await offers('requires: { mcp: [] }\n')).agent?.servers).toEqual([]);
  expect((await offers('requires: { skills: [x] }\n')).agent?.servers).toBeUndefined();
  expect((await offers('requires:\npolicies:\n')).configuration.problems).toEqual([]);
});

test("another program's mode takes no rule out of force", async () => {
  const { configuration, agent } = await offers(
    'policies: { mode: shadow, shadow: { tools: {} }, tools: { github.x: deny } }\n',
  );
  expect(configuration.problems).toEqual([]);
  expect([agent?.policy?.rules.map(({ pattern }) => pattern), agent?.shadow]).toEqual([['github.x'], undefined]);
});

test(verifies('config:agent-files', 'a required server that is not configured is named'), async () => {
  const { configuration } = await offers(
    'requires: { mcp: [github, notoin, slack] }\npolicies: { tools: { gone.x: deny } }\n',
  );
  expect(configuration.problems).toMatchObject([
    { severity: 'warning', file, line: 2, field: 'requires.mcp.1', fix: 'Did you mean "notion"?' },
    { severity: 'warning', message: 'Agent "offers": "slack" names a server that is not configured.' },
    { severity: 'warning', line: 3, field: 'policies.tools.gone.x' },
  ]);
  expect(configuration.agents.get('offers')?.servers).toEqual(['github', 'notoin', 'slack']);
});

test.each([
  ['requires: [github]', 'requires'],
  ['requires: github', 'requires'],
  ['requires: { mcp: github }', 'requires.mcp'],
  ['requires: { mcp: }', 'requires.mcp'],
  ['requires: { mcp: [[github]] }', 'requires.mcp.0'],
  ['requires: { mcp: [{ server: github }] }', 'requires.mcp.0'],
  ['requires: { mcp: [7] }', 'requires.mcp.0'],
  ['requires: { mcp_servers: [github] }', 'requires.mcp_servers'],
  ['requires: { mcp: [github], mcp: [] }', 'requires.mcp'],
  ['requires: {}\nrequires: {}', 'requires'],
  ['require: { mcp: [] }', 'require'],
  ['policies: strict', 'policies'],
  ['policies: { tools: [github.x] }', 'policies.tools'],
  ['policies: { tools: { github.x: REQUIRE_APPROVAL } }', 'policies.tools.github.x'],
  ['policies: { tools: { create_issue: deny } }', 'policies.tools.create_issue'],
  ['policies: { tool: { github.x: deny } }', 'policies.tool'],
  ['polices: { tools: { github.x: deny } }', 'polices'],
  ['slug: other', 'slug'],
])(
  verifies('config:agent-files', 'what cannot be understood leaves the agent without tools: %s'),
  async (body, field) => {
    const { configuration, agent } = await offers(`${body}\n`);
    expect(configuration.problems).toContainEqual(
      expect.objectContaining({ severity: 'error', file, field, fatal: true }),
    );
    expect(configuration.problems[0]?.message).toContain('Until this is corrected the agent gets no tools.');
    expect(agent).toMatchObject({ servers: [], policy: { rules: [{ pattern: '*', effect: 'deny' }] } });
    expect(configuration.policy).toBeUndefined();
  },
);

test.each([
  ['slug: { a: b }', 'slug'],
  ['id: [a]', 'id'],
  ['slug: not a name', 'slug'],
  ['slug: a/b', 'slug'],
])('a name that cannot be one is an error: %s', async (text, field) => {
  const configuration = await agents({ [file]: `${text}\n` });
  expect(onlyProblem(configuration)).toMatchObject({ severity: 'error', file, line: 1, field, fatal: true });
});

test(verifies('config:agent-files', 'a file of which not even the name is known denies every tool'), async () => {
  for (const text of ['', '# nothing\n', 'slug: [', '- a\n', 'a: 1\n---\nb: 2\n']) {
    const configuration = await agents({ [file]: text });
    expect(onlyProblem(configuration)).toMatchObject({ severity: 'error', file, fatal: true });
    expect(onlyProblem(configuration).message).toContain('denies every tool');
    expect(configuration.policy?.rules).toMatchObject([{ pattern: '*', effect: 'deny' }]);
  }
});

test('a folder that cannot be read denies every tool', async () => {
  const workspace = await createWorkspace({ [file]: whole, '.mcp.json': servers });
  const loop = join(workspace, 'catalog/agents');
  await rm(loop, { recursive: true });
  await symlink('agents', loop);
  const configuration = await loadConfiguration({ env: {} }, { workspace });
  expect(onlyProblem(configuration)).toMatchObject({ severity: 'error', file: 'catalog/agents', fatal: true });
  expect(configuration.policy?.rules[0]?.effect).toBe('deny');
});

test(verifies('config:agent-files', 'one name in two files is an error, and the agent gets nothing'), async () => {
  const configuration = await agents({
    [file]: 'slug: offers\nrequires: { mcp: [github] }\n',
    'catalog/agents/sub/x/agent.yaml': 'slug: offers\n',
    'catalog/agents/sub/x/agent.yml': 'slug: other\n',
  });
  expect(onlyProblem(configuration)).toMatchObject({
    severity: 'error',
    file: 'catalog/agents/sub/x/agent.yaml',
    fatal: true,
  });
  expect(onlyProblem(configuration).message).toContain(`in ${file} and in catalog/agents/sub/x/agent.yaml`);
  expect(configuration.agents.get('offers')).toMatchObject({ servers: [], source: { file } });
  expect(configuration.agents.get('other')?.servers).toBeUndefined();
});

test(
  verifies('config:agent-files', 'quartermaster.yaml is stronger for the agents it names, and only for them'),
  async () => {
    const configuration = await agents({
      'quartermaster.yaml': 'agents:\n  offers: { servers: [files] }\n  lead: { role: advisor }\n',
      [file]: 'slug: offers\nrequires: { mcp: [github] }\n',
      'catalog/agents/sub/advisor/agent.yaml': 'requires: { mcp: [notion] }\n',
    });
    expect(Object.fromEntries([...configuration.agents].map(([name, agent]) => [name, agent.servers]))).toEqual({
      offers: ['files'],
      lead: undefined,
      advisor: ['notion'],
    });
    expect(configuration.roles.get('lead')).toBe('advisor');
    expect(onlyProblem(configuration)).toMatchObject({
      severity: 'warning',
      file,
      line: 1,
      message: `Agent "offers" of ${file}:1 is overridden by the one in quartermaster.yaml:2.`,
    });
  },
);

test('the same setting in both places is no problem', async () => {
  const configuration = await agents({
    'quartermaster.yaml': 'agents:\n  offers:\n    servers: [github]\n    policies: { tools: { "*": deny } }\n',
    [file]: 'slug: offers\nrequires: { mcp: [github] }\npolicies: { tools: { "*": deny } }\n',
  });
  expect(configuration.problems).toEqual([]);
});

test('the files stand beside the agents of Squad, and in the place of a page that routes nothing', async () => {
  const team = '## Members\n| Name | Role |\n|---|---|\n| Offers | Tester |\n| Ada | Offers |\n';
  const squad = '{"agentServers":{"tester":["files"]},"toolRestrictions":{}}';
  const page = await agents({ [file]: 'slug: offers\nrequires: { mcp: [github] }\n', '.squad/team.md': team });
  expect([...page.agents.keys()]).toEqual(['offers']);
  expect([page.agents.get('offers')?.servers, page.roles.get('ada')]).toEqual([['github'], 'offers']);
  const both = await agents({ [file]: 'slug: offers\n', '.squad/mcp-config.json': squad });
  expect([...both.agents.keys()]).toEqual(['tester', 'offers']);
});
