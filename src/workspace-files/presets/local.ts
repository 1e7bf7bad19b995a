// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables in configuration are written so.
import type { Preset } from './preset.ts';
import { noLogin, optional, required, routeTo } from './preset-parts.ts';

const fileReads = [
  ...['read_text_file', 'read_media_file', 'read_multiple_files', 'list_directory', 'list_directory_with_sizes'],
  ...['directory_tree', 'search_files', 'get_file_info', 'list_allowed_directories'],
];

/** For roles that write tests and assets; they do not move files. */
const fileWork = [...fileReads, 'write_file', 'edit_file', 'create_directory'];

export const fileSystem: Preset = {
  id: 'filesystem',
  kind: 'preset',
  title: 'Files',
  description: 'The files of this workspace',
  category: 'files and code',
  transport: {
    type: 'stdio',
    command: 'npx',
    args: ['-y', '@modelcontextprotocol/server-filesystem@2026.8.31', '.'],
  },
  fallback: [],
  variables: [],
  login: noLogin,
  scopes: ['read:files', 'write:files'],
  guards: {},
  limits: { ratePerMin: 60, timeoutS: 30 },
  instead: 'Read and write files with your own tools.',
  notes: 'The last argument is the folder it serves; the dot is the workspace.',
  routes: routeTo(
    { tester: fileWork, designer: fileWork, scribe: ['read_text_file', 'write_file', 'list_directory'] },
    'all',
  ),
};

export const gitPreset: Preset = {
  id: 'git',
  kind: 'preset',
  title: 'Git',
  description: 'The history of this repository (read-only)',
  category: 'files and code',
  transport: { type: 'builtin', builtin: 'git', args: ['--repository', '.'] },
  fallback: [],
  variables: [],
  login: noLogin,
  scopes: ['read:git'],
  guards: {},
  limits: { ratePerMin: 30, timeoutS: 60 },
  instead: 'Use the git command line.',
  notes: 'Comes with the hub and needs the program git. It has no tools that write.',
  routes: routeTo({}, 'all'),
};

const memoryReads = ['read_graph', 'search_nodes', 'open_nodes'];

export const memory: Preset = {
  id: 'memory',
  kind: 'preset',
  title: 'Memory',
  description: 'A graph of facts that agents keep between runs',
  category: 'memory',
  transport: {
    type: 'stdio',
    command: 'npx',
    args: ['-y', '@modelcontextprotocol/server-memory@2026.8.31'],
    env: { MEMORY_FILE_PATH: '${WORKSPACE_ROOT}/.memory.jsonl' },
  },
  fallback: [],
  variables: [],
  login: noLogin,
  scopes: ['read:memory', 'write:memory'],
  guards: {},
  limits: { ratePerMin: 120, timeoutS: 20 },
  instead: 'Write notes into a file of the workspace.',
  notes: 'Without MEMORY_FILE_PATH the facts would be stored inside the package and lost with its next version.',
  // Only the roles that maintain the memory delete from it.
  routes: routeTo({ lead: 'all', scribe: 'all' }, [
    ...memoryReads,
    ...['create_entities', 'create_relations', 'add_observations'],
  ]),
};

export const fetchPreset: Preset = {
  id: 'fetch',
  kind: 'preset',
  title: 'Fetch',
  description: 'Web pages as text or Markdown',
  category: 'web',
  transport: { type: 'builtin', builtin: 'fetch' },
  fallback: [],
  variables: [],
  login: noLogin,
  scopes: ['read:web'],
  guards: {},
  limits: { ratePerMin: 30, timeoutS: 30 },
  instead: 'Use curl, or ask for the text of the page.',
  notes: 'Comes with the hub. Addresses of this machine and of private networks are refused.',
  routes: routeTo({}, 'all'),
};

const tableReads = ['list_tables', 'describe_table', 'query_table'];

export const pgReadonlyPreset: Preset = {
  id: 'pg-readonly',
  kind: 'preset',
  title: 'PostgreSQL',
  description: 'Tables of a PostgreSQL database (read-only)',
  category: 'database',
  transport: { type: 'builtin', builtin: 'pg-readonly', env: { PG_RO_URL: '${PG_RO_URL}' } },
  fallback: [],
  variables: [
    required('PG_RO_URL', 'the database, as postgresql://USER:PASSWORD@HOST/NAME, with a role that may only read'),
  ],
  login: { kind: 'key', variable: 'PG_RO_URL' },
  scopes: ['read:tables'],
  guards: {},
  limits: { ratePerMin: 120, timeoutS: 30 },
  instead: 'Work from the migrations and schema files of the workspace, or ask for the result of a query.',
  notes: 'Comes with the hub. It never writes, whatever role the URL names.',
  routes: routeTo({ lead: tableReads, 'backend-dev': 'all', tester: tableReads }, 'none'),
};

const noteReads = [
  ...['obsidian_list_files_in_vault', 'obsidian_list_files_in_dir', 'obsidian_get_file_contents'],
  ...['obsidian_batch_get_file_contents', 'obsidian_simple_search', 'obsidian_complex_search'],
  ...['obsidian_get_periodic_note', 'obsidian_get_recent_periodic_notes', 'obsidian_get_recent_changes'],
];

/** Writes notes, but deletes none. */
const noteWork = [...noteReads, 'obsidian_append_content', 'obsidian_patch_content', 'obsidian_put_content'];

export const obsidian: Preset = {
  id: 'obsidian',
  kind: 'preset',
  title: 'Obsidian',
  description: 'Notes of an Obsidian vault on this machine',
  category: 'documentation',
  transport: {
    type: 'stdio',
    command: 'uvx',
    args: ['mcp-obsidian'],
    env: {
      OBSIDIAN_API_KEY: '${OBSIDIAN_API_KEY}',
      OBSIDIAN_HOST: '${OBSIDIAN_HOST:-127.0.0.1}',
      OBSIDIAN_PORT: '${OBSIDIAN_PORT:-27124}',
    },
  },
  fallback: [],
  variables: [
    required('OBSIDIAN_API_KEY', 'the key that the Local REST API plugin shows in its settings'),
    optional('OBSIDIAN_HOST', 'where Obsidian runs, 127.0.0.1 unless set'),
    optional('OBSIDIAN_PORT', 'the port of the plugin, 27124 unless set'),
  ],
  login: { kind: 'key', variable: 'OBSIDIAN_API_KEY' },
  scopes: ['vault:read', 'vault:write'],
  guards: {},
  tools: noteWork,
  limits: { timeoutS: 10 },
  instead: 'Read the notes as files, if the vault is in the workspace.',
  notes:
    'Obsidian must be running with the Local REST API plugin. Deleting is left out; to allow it, add obsidian_delete_file to tools.',
  routes: routeTo({ scribe: 'all' }, noteReads),
};
