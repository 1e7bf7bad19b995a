// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables in configuration are written so.
import type { Preset } from './preset.ts';
import { bearer, optional, routeTo } from './preset-parts.ts';

export const notion: Preset = {
  id: 'notion',
  kind: 'preset',
  title: 'Notion',
  description: 'Pages and databases of a Notion workspace (read-only)',
  category: 'documentation',
  transport: { type: 'http', url: 'https://mcp.notion.com/mcp', headers: bearer('NOTION_MCP_TOKEN') },
  fallback: [
    { type: 'sse', url: 'https://mcp.notion.com/sse', headers: bearer('NOTION_MCP_TOKEN') },
    { type: 'stdio', command: 'npx', args: ['-y', 'mcp-remote@0.15.1', 'https://mcp.notion.com/mcp'] },
  ],
  variables: [optional('NOTION_MCP_TOKEN', 'a token, if nobody can log in with a browser')],
  login: { kind: 'browser', variable: 'NOTION_MCP_TOKEN' },
  scopes: ['read:pages', 'read:databases'],
  guards: {},
  limits: { timeoutS: 10 },
  instead: 'Search the documents in the workspace.',
  notes:
    'The fallback is tried only if the transport above cannot be reached. Add the scope write:pages to expose the tools that write.',
  routes: routeTo({ scribe: 'all' }, ['notion-search', 'notion-fetch']),
};

const supabaseReads = ['list_tables', 'list_extensions', 'list_migrations', 'search_docs'];

export const supabase: Preset = {
  id: 'supabase',
  kind: 'preset',
  title: 'Supabase',
  description: 'Tables and queries of Supabase projects (read-only by default)',
  category: 'database',
  transport: {
    type: 'http',
    url: 'https://mcp.supabase.com/mcp${MAGSAG_MCP_SUPABASE_PROJECT_REF:+?project_ref=${MAGSAG_MCP_SUPABASE_PROJECT_REF}}',
    headers: bearer('MAGSAG_MCP_SUPABASE_ACCESS_TOKEN'),
  },
  fallback: [],
  variables: [
    optional('MAGSAG_MCP_SUPABASE_ACCESS_TOKEN', 'an access token, if nobody can log in with a browser'),
    optional('MAGSAG_MCP_SUPABASE_PROJECT_REF', 'limits it to this project'),
    optional('MAGSAG_MCP_SUPABASE_READONLY', 'false, together with a write scope, lets tools write; true by default'),
  ],
  login: { kind: 'browser', variable: 'MAGSAG_MCP_SUPABASE_ACCESS_TOKEN' },
  scopes: ['db:select', 'db:describe'],
  guards: { readOnly: '${MAGSAG_MCP_SUPABASE_READONLY:-true}' },
  limits: { timeoutS: 30 },
  instead: 'Work from the migrations of the workspace, or use the supabase command line.',
  notes:
    'It is read-only unless the variable clearly says no; to let tools write, also add a scope such as db:insert. Use a token and a project where nobody can log in.',
  routes: routeTo({ lead: supabaseReads, 'backend-dev': 'all', tester: supabaseReads }, 'none'),
};

const issueReads = ['issue_read', 'list_issues', 'search_issues', 'list_issue_types', 'get_label'];

/** Issues and pull requests; only the lead merges. */
const gitHubWork = [
  ...issueReads,
  ...['issue_write', 'add_issue_comment', 'sub_issue_write', 'pull_request_read', 'list_pull_requests'],
  ...['search_pull_requests', 'create_pull_request', 'update_pull_request', 'update_pull_request_branch'],
  ...['pull_request_review_write', 'add_comment_to_pending_review'],
];

export const gitHub: Preset = {
  id: 'github',
  kind: 'preset',
  title: 'GitHub',
  description: 'Repositories, issues and pull requests on GitHub; writing requires approval',
  category: 'project management',
  transport: { type: 'http', url: 'https://api.githubcopilot.com/mcp/', headers: bearer('MAGSAG_MCP_GITHUB_PAT') },
  fallback: [],
  variables: [optional('MAGSAG_MCP_GITHUB_PAT', 'a personal access token with as few rights as possible')],
  login: { kind: 'browser', variable: 'MAGSAG_MCP_GITHUB_PAT' },
  scopes: [],
  guards: { writeRequiresApproval: true },
  limits: { timeoutS: 10 },
  instead: 'Use the gh command line.',
  notes: 'GitHub offers some of these tools only to accounts with a Copilot licence.',
  routes: routeTo({ lead: 'all', 'backend-dev': gitHubWork, 'frontend-dev': gitHubWork }, issueReads),
};
