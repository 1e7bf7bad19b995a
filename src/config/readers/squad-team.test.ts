import { expect, test } from 'vitest';
import { verifies } from '../../../test/support/verifies.ts';
import type { Configuration } from '../../domain/index.ts';
import { load, onlyProblem } from '../workspace.fixture.ts';

const page = `# Our Team

> builds things

## Coordinator

| Name | Role | Notes |
|------|------|-------|
| Squad | Coordinator | Routes work \\| keeps gates. |

## Members

| Name | Role | Charter | Status |
| :--- | :---: | ---: | --- |
| Ada | Backend Dev 🔧 | \`.squad/agents/ada/charter.md\` | ✅ Active |
| **Zoë** | \`Lead / Architect\` | — | ✅ Active |
| [Mc Manus](agents/mc/charter.md) | Tester | — | 📋 Silent |
| Tester | Tester | — | 🔄 Monitor |
| Gone | Backend Dev | — | ❌ Retired |
| Nobody | | — | ✅ Active |

## Coding Agent

<!-- copilot-auto-assign: false -->

| Name | Role | Charter | Status |
|------|------|---------|--------|
| @copilot | Coding Agent | — | 🤖 Coding Agent |

## Alumni

| Name | Role |
|------|------|
| Eve | Backend Dev |

## Project Context

- **Owner:** somebody
`;

function team(text: string, others: Readonly<Record<string, string>> = {}): Promise<Configuration> {
  return load({ '.squad/team.md': text, ...others });
}

test(verifies('config:roles', 'the tables of the present team give agents their roles'), async () => {
  const configuration = await team(page);
  expect(configuration.problems).toEqual([]);
  expect(Object.fromEntries(configuration.roles)).toEqual({
    squad: 'coordinator',
    ada: 'backend-dev',
    zoe: 'lead-architect',
    'mc-manus': 'tester',
    copilot: 'coding-agent',
  });
});

test(verifies('config:roles', 'alone the page makes names known and routes nothing'), async () => {
  const { agents } = await team(page, { '.mcp.json': '{"mcpServers":{"a":{"command":"x"}}}' });
  expect([...agents.keys()]).toEqual([
    ...['squad', 'ada', 'zoe', 'mc-manus', 'tester', 'nobody', 'copilot'],
    ...['coordinator', 'backend-dev', 'lead-architect', 'coding-agent'],
  ]);
  for (const agent of agents.values()) {
    expect(agent).toMatchObject({ servers: undefined, tools: new Map(), policy: undefined });
  }
  expect(agents.get('ada')?.source).toEqual({ file: '.squad/team.md', line: 15 });
});

test(verifies('config:roles', 'agents come from the stronger file, roles from the page'), async () => {
  const configuration = await team(page, {
    '.squad/mcp-config.json': '{"servers":{"db":{"command":"x"}},"agentServers":{"backend-dev":["db"]}}',
  });
  expect([...configuration.agents.keys()]).toEqual(['backend-dev']);
  expect(configuration.roles.get('ada')).toBe('backend-dev');
});

test('a role in quartermaster.yaml beats the one of the page, for that agent alone', async () => {
  const configuration = await team(page, {
    'quartermaster.yaml': 'agents:\n  ada: { role: lead }\n  lead: { servers: [] }\n',
  });
  expect([configuration.roles.get('ada'), configuration.roles.get('zoe')]).toEqual(['lead', 'lead-architect']);
});

test.each([
  ['nothing', ''],
  ['no table', '# Team\n\n## Members\n\nAda and Bob.\n'],
  ['an empty table', '## Members\n\n| Name | Role |\n|---|---|\n\n## Next\n| a | b |\n'],
  ['other columns', '## Members\n\n| Who | What |\n|---|---|\n| Ada | Dev |\n'],
  ['former members', '## Former members\n\n| Name | Role |\n|---|---|\n| Ada | Dev |\n'],
  [
    'code',
    '## Members\n\n```\n| Name | Role |\n|---|---|\n| Ada | Dev |\n```\n~~~~\n| Name | Role |\n~~~\n| Ada | Dev |\n',
  ],
  ['a comment', '## Members\n<!--\n| Name | Role |\n|---|---|\n| Ada | Dev |\n-->\n'],
])('a page with %s names nobody and is no error', async (_what, text) => {
  const configuration = await team(text);
  expect(configuration.problems).toEqual([]);
  expect([configuration.agents.size, configuration.roles.size]).toEqual([0, 0]);
});

test('Windows line ends, a missing bar at the ends, other names for the section', async () => {
  for (const heading of ['# Team Roster', '## Roster', '### Members', '## **Team Members**']) {
    const configuration = await team(`${heading}\r\n\r\nName | Role\r\n--- | ---\r\nAda | Backend Dev\r\n`);
    expect(configuration.roles).toEqual(new Map([['ada', 'backend-dev']]));
  }
});

test('a member with two roles gets neither, and one whose name has no letters is told', async () => {
  const rows = '| Ada | Backend Dev |\n| ada | Lead |\n';
  const configuration = await team(`## Members\n| Name | Role |\n|---|---|\n${rows}`);
  expect(onlyProblem(configuration)).toMatchObject({ severity: 'warning', file: '.squad/team.md', line: 5 });
  expect(onlyProblem(configuration).message).toContain('lines 4');
  expect(configuration.roles.size).toBe(0);
  expect(configuration.agents.has('ada')).toBe(true);
  expect(onlyProblem(await team('## Members\n| Name | Role |\n|---|---|\n| 花子 | Lead |\n'))).toMatchObject({
    line: 4,
    fix: 'Write the name in Latin letters.',
  });
});

test('a page without end is refused', async () => {
  const configuration = await team(`## Members\n| Name | Role |\n|---|---|\n${'| a | b |\n'.repeat(2_000)}`);
  expect(onlyProblem(configuration)).toMatchObject({ severity: 'error', file: '.squad/team.md', line: 1_004 });
  expect(configuration.agents.size).toBe(0);
});

test.each([
  ['## Members', 'Agent'],
  ['## Agents', 'Name'],
  ['## Team Agents', 'Member'],
])('a table under %s with the column %s names agents', async (heading, column) => {
  const configuration = await team(`${heading}\n\n| ${column} | Role |\n|---|---|\n| Ada | Backend Dev |\n`);
  expect(configuration.problems).toEqual([]);
  expect(Object.fromEntries(configuration.roles)).toEqual({ ada: 'backend-dev' });
});

test('a table that might be the team but is not read is told, unless another one is', async () => {
  const table = '## People\n\n| Agent | Role |\n|---|---|\n| Ada | Backend Dev |\n';
  expect(onlyProblem(await team(table))).toMatchObject({
    severity: 'warning',
    line: 3,
    message: expect.stringContaining('under "People" is not read as the team'),
  });
  expect((await team(`${table}\n## Members\n\n| Name | Role |\n|---|---|\n| Bo | Lead |\n`)).problems).toEqual([]);
  expect((await team('## Routing\n\n| Label | Action |\n|---|---|\n| a | b |\n')).problems).toEqual([]);
});

test('the page in the folder that Squad used before counts as long as there is no other', async () => {
  const old = '## Members\n\n| Name | Role |\n|---|---|\n| Eve | Backend Dev |\n';
  const alone = await load({ '.ai-team/team.md': old });
  expect([alone.files, Object.fromEntries(alone.roles)]).toEqual([['.ai-team/team.md'], { eve: 'backend-dev' }]);
  const both = await load({ '.ai-team/team.md': old, '.squad/team.md': old.replace('Eve', 'Ada') });
  expect([both.files, Object.fromEntries(both.roles)]).toEqual([['.squad/team.md'], { ada: 'backend-dev' }]);
  expect([...both.agents.keys()]).toEqual(['ada', 'backend-dev']);
});
