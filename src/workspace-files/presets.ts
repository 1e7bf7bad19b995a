import { fileSystem, gitHub, memory, notion, obsidian, supabase } from './preset-texts.ts';

/** A server that many teams want, ready to be written into a workspace. */
export interface Preset {
  readonly id: string;
  readonly summary: string;
  readonly variables: readonly PresetVariable[];
  /** The file, word for word. */
  readonly text: string;
}

export interface PresetVariable {
  readonly name: string;
  /** Without a required one the server is invalid, and says so. */
  readonly required: boolean;
  readonly purpose: string;
}

/** In the order of the list that people see. */
export const presets: readonly Preset[] = [
  {
    id: 'notion',
    summary: 'Notion pages and databases, read only; over HTTP',
    variables: [optional('NOTION_MCP_TOKEN', 'a token, where nobody can log in with a browser')],
    text: notion,
  },
  {
    id: 'supabase',
    summary: 'Supabase projects, read only unless told otherwise; over HTTP',
    variables: [
      optional('MAGSAG_MCP_SUPABASE_ACCESS_TOKEN', 'an access token, where nobody can log in with a browser'),
      optional('MAGSAG_MCP_SUPABASE_PROJECT_REF', 'keeps to this one project'),
      optional('MAGSAG_MCP_SUPABASE_READONLY', 'false lets tools write'),
    ],
    text: supabase,
  },
  {
    id: 'github',
    summary: 'GitHub, where writing asks a human first; over HTTP',
    variables: [optional('MAGSAG_MCP_GITHUB_PAT', 'a personal access token with as few rights as will do')],
    text: gitHub,
  },
  {
    id: 'obsidian',
    summary: 'An Obsidian vault, through its Local REST API plugin; needs uvx',
    variables: [
      { name: 'OBSIDIAN_API_KEY', required: true, purpose: 'the key that the plugin shows in its settings' },
      optional('OBSIDIAN_HOST', 'where Obsidian runs, 127.0.0.1 unless set'),
      optional('OBSIDIAN_PORT', 'the port of the plugin, 27124 unless set'),
    ],
    text: obsidian,
  },
  { id: 'filesystem', summary: 'The files of the workspace; needs npx', variables: [], text: fileSystem },
  { id: 'memory', summary: 'A graph of facts that agents keep between runs; needs npx', variables: [], text: memory },
];

/** What `qm bootstrap` writes when nobody names any. */
export const defaultPresets: readonly string[] = ['notion', 'supabase', 'github', 'obsidian'];

function optional(name: string, purpose: string): PresetVariable {
  return { name, required: false, purpose };
}
