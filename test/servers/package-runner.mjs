/**
 * npx and uvx without a registry, for the packages of the gallery:
 *
 *   node package-runner.mjs npx|uvx ARGS…
 *
 * Two run for real. The others offer the tools that the pinned package has, and end as it does where an argument or a
 * variable is not what it takes.
 */
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { said } from './raw/echo-tools.mjs';
import { serveStdio } from './raw/serve-stdio.mjs';

const [runner, ...given] = process.argv.slice(2);
const { env } = process;
// The hub keeps npm from the settings and packages of the workspace: npm starts elsewhere, and its shell changes the folder.
const isGuarded = given[0] === '--prefix=/' && given[1]?.startsWith('--script-shell=');
if (isGuarded) process.chdir(env.QUARTERMASTER_FOLDER);
const words = isGuarded ? given.slice(2) : given;

const packages = {
  'npx -y @modelcontextprotocol/server-filesystem@2026.8.31': { real: '@modelcontextprotocol/server-filesystem' },
  'npx -y @modelcontextprotocol/server-memory@2026.8.31': { real: '@modelcontextprotocol/server-memory' },
  'npx -y mcp-remote@0.15.1': {
    wrong: ([url = '']) => (URL.canParse(url) ? undefined : 'Usage: mcp-remote <url>'),
    tools: 'notion-search notion-fetch',
  },
  'npx -y @azure-devops/mcp@2.10.0': {
    wrong(args) {
      const [organisation = '', ...options] = args;
      if (!/^[\w-]+$/.test(organisation)) return 'Not enough non-option arguments';
      if (options.join(' ') !== '--authentication pat --domains core work work-items') return 'Unknown arguments';
      const token = Buffer.from(env.PERSONAL_ACCESS_TOKEN ?? '', 'base64').toString('utf8');
      return /^[^:]+@[^:]+:.+/.test(token) ? undefined : 'Set it with a valid base64-encoded Personal Access Token.';
    },
    tools: `core_list_project_teams core_list_projects core_get_identity_ids work work_iteration_write
      work_capacity_write wit_work_item wit_query wit_backlog wit_work_item_attachment wit_work_item_write
      wit_work_item_comment_write wit_work_item_link_write`,
  },
  'npx -y mongodb-mcp-server@3.0.4': {
    wrong(args) {
      if (args.join(' ') !== '--readOnly') return `Invalid command line argument '${args[0]}'.`;
      return /^mongodb(\+srv)?:\/\//.test(env.MDB_MCP_CONNECTION_STRING ?? '')
        ? undefined
        : 'Invalid connection string';
    },
    tools: `aggregate-db aggregate collection-indexes collection-schema collection-storage-size connect count db-stats
      disconnect explain export find list-collections list-connections list-databases mongodb-logs search-knowledge
      list-knowledge-sources`,
  },
  'npx -y @playwright/mcp@0.0.83': {
    wrong: (args) => (args.join(' ') === '--headless --isolated' ? undefined : `error: unknown option '${args[0]}'`),
    tools: `browser_close browser_resize browser_console_messages browser_handle_dialog browser_emulate_media
      browser_evaluate browser_file_upload browser_drop browser_find browser_fill_form browser_press_key browser_type
      browser_navigate browser_navigate_back browser_network_requests browser_network_request browser_run_code_unsafe
      browser_take_screenshot browser_snapshot browser_click browser_drag browser_hover browser_select_option
      browser_tabs browser_wait_for`,
  },
  'uvx mcp-obsidian': {
    wrong() {
      if (!env.OBSIDIAN_API_KEY) return 'OBSIDIAN_API_KEY environment variable required';
      return /^\d+$/.test(env.OBSIDIAN_PORT ?? '') && env.OBSIDIAN_HOST ? undefined : 'no host or port';
    },
    tools: `obsidian_list_files_in_dir obsidian_list_files_in_vault obsidian_get_file_contents obsidian_simple_search
      obsidian_patch_content obsidian_append_content obsidian_put_content obsidian_delete_file obsidian_complex_search
      obsidian_batch_get_file_contents obsidian_get_periodic_note obsidian_get_recent_periodic_notes
      obsidian_get_recent_changes`,
  },
};

const asked = runner === 'npx' ? words.slice(0, 2) : words.slice(0, 1);
const found = packages[[runner, ...asked].join(' ')];
const args = words.slice(asked.length);
if (found === undefined) end(`npm error 404 Not Found: ${asked.join(' ')}`);
const wrong = found.wrong?.(args);
if (wrong !== undefined) end(wrong);
if (found.real === undefined) serve(found.tools.split(/\s+/));
else await run(found.real);

function end(message) {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}

async function run(name) {
  const file = createRequire(import.meta.url).resolve(`${name}/dist/index.js`);
  process.argv = [process.execPath, file, ...args];
  await import(pathToFileURL(file).href);
}

function serve(names) {
  const tools = names.map((name) => ({ name, description: name, inputSchema: { type: 'object' } }));
  serveStdio({ name: asked.at(-1), listTools: () => ({ tools }), callTool: ({ name }) => said(name) }, 'legacy');
}
