import { join } from 'node:path';
import { parseText } from '../../workspace-files/index.ts';
import type { Client, ClientContext, ClientFile } from '../client.ts';
import { entriesAt, mapAt, programEntry } from '../json-entries.ts';

/** It waits for a required server before its first turn, and otherwise goes on after a second. */
const patience = { required: true, startup_timeout_sec: 30 };

/** It reads the file of a project only if the user trusts the project. */
export const codex: Client = {
  name: 'codex',
  title: 'Codex',
  aliases: ['codex-cli', 'openai-codex'],
  files: (at) => [projectFile(at), userFile(at)],
  places: (at) => [projectFile(at), userFile(at)],
  unusable({ scope }, at, textOf) {
    if (scope !== 'project' || isTrusted(textOf(userFile(at).path), [at.workspace, at.project])) return undefined;
    return 'is read only in projects that Codex trusts, which this is not';
  },
  write(draft) {
    if (draft.kind === 'stdio') return { ...programEntry(draft), ...patience };
    return { url: draft.url, bearer_token_env_var: draft.tokenVariable, ...patience };
  },
  switchOff(file, entry) {
    // The hub reads the project's file, and an entry that only says `enabled = false` makes Codex refuse the user's.
    if (file.scope === 'project') return { kind: 'move' };
    const steps = [{ kind: 'put', path: [...entry.path, 'enabled'], value: false } as const];
    return { kind: 'setting', path: file.path, dialect: 'toml', steps, reach: 'everywhere' };
  },
  isOff: ({ enabled }) => enabled === false,
  traces: (at) => [folderOf(at)],
  restart: 'Start Codex again; `/mcp` lists its servers.',
};

function folderOf({ env, home }: ClientContext): string {
  const { CODEX_HOME: folder } = env;
  return folder === undefined || folder === '' ? join(home, '.codex') : folder;
}

function userFile(at: ClientContext): ClientFile {
  return tomlFile(join(folderOf(at), 'config.toml'), 'user');
}

function projectFile({ workspace }: ClientContext): ClientFile {
  return tomlFile(join(workspace, '.codex', 'config.toml'), 'project');
}

function tomlFile(path: string, scope: ClientFile['scope']): ClientFile {
  const readAs: ClientFile['readAs'] = (text) => ({ file: '.codex/config.toml', text });
  const servers = ['mcp_servers'];
  const entries: ClientFile['entries'] = (text) => entriesAt(parseText(text, 'toml'), servers);
  return { path, scope, dialect: 'toml', servers, readAs, entries };
}

function isTrusted(settings: string | undefined, folders: readonly string[]): boolean {
  const content = settings === undefined ? undefined : parseText(settings, 'toml');
  return folders.some((folder) => mapAt(content, ['projects', folder])?.trust_level === 'trusted');
}
