// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables in configuration are written so.

/** The presets as files, so that what is read here is what lands in `ops/adk/servers/`. Versions are ones that exist. */

export const notion = lines(
  'id: notion',
  'version: "1"',
  'description: Pages and databases of a Notion workspace',
  'transport:',
  '  type: http',
  '  url: https://mcp.notion.com/mcp',
  '  headers:',
  '    # Left out while the variable is not set: then the server asks for a login.',
  '    Authorization: "${NOTION_MCP_TOKEN:+Bearer ${NOTION_MCP_TOKEN}}"',
  'fallback:',
  '  - type: sse',
  '    url: https://mcp.notion.com/sse',
  '    headers:',
  '      Authorization: "${NOTION_MCP_TOKEN:+Bearer ${NOTION_MCP_TOKEN}}"',
  '  - type: stdio',
  '    command: npx',
  '    args: [-y, mcp-remote@0.15.1, https://mcp.notion.com/mcp]',
  'permissions:',
  '  scope: ["read:pages", "read:databases"]',
  'notes: The ways under fallback are tried only when the one above cannot be reached.',
);

export const supabase = lines(
  'id: supabase',
  'version: "1"',
  'description: Tables and queries of Supabase projects',
  'transport:',
  '  type: http',
  '  url: "https://mcp.supabase.com/mcp${MAGSAG_MCP_SUPABASE_PROJECT_REF:+?project_ref=${MAGSAG_MCP_SUPABASE_PROJECT_REF}}"',
  '  headers:',
  '    Authorization: "${MAGSAG_MCP_SUPABASE_ACCESS_TOKEN:+Bearer ${MAGSAG_MCP_SUPABASE_ACCESS_TOKEN}}"',
  'options:',
  '  # Anything but a clear no keeps it read-only.',
  '  read_only: "${MAGSAG_MCP_SUPABASE_READONLY:-true}"',
  'permissions:',
  '  scope: ["db:select", "db:describe"]',
  'notes: People log in with a browser; an access token and a project are for machines.',
);

export const gitHub = lines(
  'id: github',
  'version: "1"',
  'description: Repositories, issues and pull requests on GitHub',
  'transport:',
  '  type: http',
  '  url: https://api.githubcopilot.com/mcp/',
  '  headers:',
  '    Authorization: "${MAGSAG_MCP_GITHUB_PAT:+Bearer ${MAGSAG_MCP_GITHUB_PAT}}"',
  'permissions:',
  '  write_requires_approval: true',
  'notes: GitHub offers some of these tools only to accounts with a Copilot licence.',
);

export const obsidian = lines(
  'id: obsidian',
  'version: "1"',
  'description: Notes of an Obsidian vault on this machine',
  'transport:',
  '  type: stdio',
  '  command: uvx',
  '  args: [mcp-obsidian]',
  '  env:',
  '    OBSIDIAN_API_KEY: "${OBSIDIAN_API_KEY}"',
  '    OBSIDIAN_HOST: "${OBSIDIAN_HOST:-127.0.0.1}"',
  '    OBSIDIAN_PORT: "${OBSIDIAN_PORT:-27124}"',
  'permissions:',
  '  scope: ["vault:read", "vault:write"]',
  'notes: Obsidian must be running with the Local REST API plugin. Guard deletions with a rule under policies.',
);

export const fileSystem = lines(
  'id: filesystem',
  'version: "1"',
  'description: The files of this workspace',
  'transport:',
  '  type: stdio',
  '  command: npx',
  '  args: [-y, "@modelcontextprotocol/server-filesystem@2026.8.31", .]',
  'permissions:',
  '  scope: ["read:files", "write:files"]',
  'limits:',
  '  rate_per_min: 60',
  '  timeout_s: 30',
  'notes: The last argument is the one folder that it serves; the dot is the workspace itself.',
);

export const memory = lines(
  'id: memory',
  'version: "1"',
  'description: What agents remember from one run to the next',
  'transport:',
  '  type: stdio',
  '  command: npx',
  '  args: [-y, "@modelcontextprotocol/server-memory@2026.8.31"]',
  '  env:',
  '    MEMORY_FILE_PATH: "${WORKSPACE_ROOT}/.quartermaster/memory.jsonl"',
  'permissions:',
  '  scope: ["read:memory", "write:memory"]',
  'limits:',
  '  rate_per_min: 120',
  '  timeout_s: 20',
  'notes: Without MEMORY_FILE_PATH the facts would lie inside the package and go with its next version.',
);

function lines(...text: readonly string[]): string {
  return `${text.join('\n')}\n`;
}
