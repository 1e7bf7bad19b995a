// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables in configuration are written so.
import type { Preset } from './preset.ts';
import { atOwnAddress, bearer, noLogin, optional, required, routeTo } from './preset-parts.ts';

export const trello: Preset = {
  id: 'trello',
  kind: 'pattern',
  title: 'Trello',
  description: 'Boards and cards, through your own MCP server for Trello',
  category: 'project management',
  transport: atOwnAddress('TRELLO_MCP_URL', 'TRELLO_API_KEY'),
  fallback: [],
  variables: [
    required('TRELLO_MCP_URL', 'the address of the MCP server that your team runs or rents'),
    required('TRELLO_API_KEY', 'the key of that server'),
  ],
  login: { kind: 'key', variable: 'TRELLO_API_KEY' },
  scopes: ['read:boards', 'write:boards'],
  guards: {},
  tools: ['list_boards', 'list_cards', 'create_card', 'move_card'],
  limits: { timeoutS: 10 },
  instead: 'Write planned cards into a file of the workspace.',
  notes: 'Servers for Trello name their tools differently: run `qm inspect trello` and correct tools.',
  routes: routeTo({ lead: 'all', scribe: ['list_boards', 'list_cards'] }, 'none'),
};

export const azureDevOps: Preset = {
  id: 'azure-devops',
  kind: 'pattern',
  title: 'Azure DevOps',
  description: 'Projects, iterations and work items of an Azure DevOps organisation',
  category: 'project management',
  transport: {
    type: 'stdio',
    command: 'npx',
    args: [
      ...['-y', '@azure-devops/mcp@2.10.0', '${AZURE_DEVOPS_ORG}', '--authentication', 'pat'],
      ...['--domains', 'core', 'work', 'work-items'],
    ],
    env: { PERSONAL_ACCESS_TOKEN: '${AZURE_DEVOPS_PAT}' },
  },
  fallback: [],
  variables: [
    required('AZURE_DEVOPS_ORG', 'the name of the organisation, as in https://dev.azure.com/NAME'),
    required(
      'AZURE_DEVOPS_PAT',
      'Base64 of EMAIL:TOKEN, with a personal access token that has the rights the agents need',
    ),
  ],
  login: { kind: 'token', variable: 'AZURE_DEVOPS_PAT' },
  scopes: ['read:work', 'write:work'],
  guards: {},
  limits: { timeoutS: 10 },
  instead: 'Use the az boards command line.',
  notes: 'Further domains of the package are repositories, pipelines, wiki, search, test-plans and advanced-security.',
  routes: routeTo(
    {
      lead: 'all',
      scribe: ['core_list_projects', 'core_list_project_teams', 'work', 'wit_work_item', 'wit_query', 'wit_backlog'],
    },
    'none',
  ),
};

const linearReads = ['list_issues', 'get_issue', 'list_comments', 'list_projects', 'get_project', 'list_teams'];

/** Writes issues, projects and documents; deletes nothing. */
const linearWork = [
  ...linearReads,
  ...['get_team', 'list_users', 'get_user', 'list_cycles', 'list_documents', 'get_document', 'list_issue_statuses'],
  ...['get_issue_status', 'list_issue_labels', 'list_project_labels', 'search_documentation', 'save_issue'],
  ...['create_issue', 'update_issue', 'save_comment', 'create_comment', 'save_project', 'create_project'],
  ...['update_project', 'create_document', 'update_document', 'create_issue_label', 'create_attachment'],
];

export const linear: Preset = {
  id: 'linear',
  kind: 'pattern',
  title: 'Linear',
  description: 'Issues, projects and documents of a Linear workspace',
  category: 'project management',
  transport: { type: 'http', url: 'https://mcp.linear.app/mcp', headers: bearer('LINEAR_API_KEY') },
  fallback: [],
  variables: [optional('LINEAR_API_KEY', 'an API key, if nobody can log in with a browser')],
  login: { kind: 'browser', variable: 'LINEAR_API_KEY' },
  scopes: ['read:issues', 'write:issues'],
  guards: {},
  tools: linearWork,
  limits: { timeoutS: 10 },
  instead: 'Write planned issues into a file of the workspace.',
  notes: 'A key can be restricted in Linear, to reading or to teams. The list of tools leaves out those that delete.',
  routes: routeTo({ lead: 'all', scribe: linearReads }, 'none'),
};

const collectionReads = [
  'list-databases',
  'list-collections',
  'collection-schema',
  'collection-indexes',
  'count',
  'find',
];

export const mongoDb: Preset = {
  id: 'mongodb',
  kind: 'pattern',
  title: 'MongoDB',
  description: 'Collections of a MongoDB deployment (read-only)',
  category: 'database',
  transport: {
    type: 'stdio',
    command: 'npx',
    args: ['-y', 'mongodb-mcp-server@3.0.4', '--readOnly'],
    env: { MDB_MCP_CONNECTION_STRING: '${MDB_MCP_CONNECTION_STRING}', MDB_MCP_TELEMETRY: 'disabled' },
  },
  fallback: [],
  variables: [required('MDB_MCP_CONNECTION_STRING', 'the deployment, as mongodb://USER:PASSWORD@HOST/NAME')],
  login: { kind: 'key', variable: 'MDB_MCP_CONNECTION_STRING' },
  scopes: [],
  guards: {},
  // Leaves out connect, which reaches any deployment it is given, and export, which writes files.
  tools: [...collectionReads, 'aggregate', 'aggregate-db', 'collection-storage-size', 'db-stats', 'explain'],
  limits: { timeoutS: 30 },
  instead: 'Work from the schema files of the workspace, or ask for the result of a query.',
  notes: 'The server itself enforces read-only access (--readOnly); use an account that may only read.',
  routes: routeTo({ lead: collectionReads, 'backend-dev': 'all', tester: collectionReads }, 'none'),
};

/** Only the roles that speak for the team get its channels. */
const chat = {
  kind: 'pattern',
  category: 'communication',
  fallback: [],
  scopes: ['read:messages', 'write:messages'],
  guards: {},
  tools: ['send_message', 'list_channels', 'search_messages'],
  limits: { timeoutS: 10 },
  instead: 'Put the message into your answer, so that your user can pass it on.',
  routes: routeTo({ lead: 'all', scribe: 'all' }, 'none'),
} satisfies Partial<Preset>;

export const slack: Preset = {
  ...chat,
  id: 'slack',
  title: 'Slack',
  description: 'Channels and messages, through your own MCP server for Slack',
  transport: atOwnAddress('SLACK_MCP_URL', 'SLACK_BOT_TOKEN'),
  variables: [
    required('SLACK_MCP_URL', 'the address of the MCP server that your team runs or rents'),
    required('SLACK_BOT_TOKEN', 'the token of the bot, xoxb-…'),
  ],
  login: { kind: 'token', variable: 'SLACK_BOT_TOKEN' },
  notes: 'Servers for Slack name their tools differently: run `qm inspect slack` and correct tools.',
};

export const discord: Preset = {
  ...chat,
  id: 'discord',
  title: 'Discord',
  description: 'Channels and messages, through your own MCP server for Discord',
  transport: atOwnAddress('DISCORD_MCP_URL', 'DISCORD_BOT_TOKEN'),
  variables: [
    required('DISCORD_MCP_URL', 'the address of the MCP server that your team runs or rents'),
    required('DISCORD_BOT_TOKEN', 'the token of the bot'),
  ],
  login: { kind: 'token', variable: 'DISCORD_BOT_TOKEN' },
  notes: 'Servers for Discord name their tools differently: run `qm inspect discord` and correct tools.',
};

const pageReads = ['searchConfluence', 'getConfluenceContent'];

export const confluence: Preset = {
  id: 'confluence',
  kind: 'pattern',
  title: 'Confluence',
  description: 'Pages of Confluence, through the hosted server of Atlassian',
  category: 'documentation',
  transport: {
    type: 'http',
    url: '${CONFLUENCE_MCP_URL:-https://mcp.atlassian.com/v2/mcp?tools=all}',
    headers: bearer('CONFLUENCE_API_KEY'),
  },
  fallback: [],
  variables: [
    optional('CONFLUENCE_MCP_URL', "address of another server; Atlassian's by default"),
    optional('CONFLUENCE_API_KEY', 'the API key of a service account, if nobody can log in with a browser'),
  ],
  login: { kind: 'browser', variable: 'CONFLUENCE_API_KEY' },
  scopes: ['read:pages', 'write:pages'],
  guards: {},
  tools: [...pageReads, 'createConfluenceContent', 'updateConfluenceContent'],
  limits: { timeoutS: 10 },
  instead: 'Search the documents in the workspace.',
  notes: 'Atlassian must allow API keys for the organisation. The list of tools leaves out Jira and the rest.',
  routes: routeTo({ scribe: 'all' }, pageReads),
};

export const playwright: Preset = {
  id: 'playwright',
  kind: 'pattern',
  title: 'Playwright',
  description: 'A headless browser to view and test pages',
  category: 'web',
  transport: { type: 'stdio', command: 'npx', args: ['-y', '@playwright/mcp@0.0.83', '--headless', '--isolated'] },
  fallback: [],
  variables: [],
  login: noLogin,
  scopes: [],
  guards: {},
  limits: { timeoutS: 60 },
  instead: 'Write the test and ask your user to run it, or use the playwright command line.',
  notes:
    'Needs a browser: `npx playwright install chrome`. All callers share one; with isolation: per-agent in quartermaster.yaml each has its own.',
  routes: routeTo(
    {
      tester: 'all',
      'frontend-dev': 'all',
      designer: [
        ...['browser_navigate', 'browser_navigate_back', 'browser_snapshot', 'browser_find', 'browser_take_screenshot'],
        ...['browser_resize', 'browser_emulate_media', 'browser_wait_for', 'browser_tabs', 'browser_close'],
      ],
    },
    'none',
  ),
};
