import { join } from 'node:path';
import type { Client, ClientContext, ClientFile } from '../client.ts';
import { jsonFile, programEntry, sameForm } from '../json-entries.ts';

/**
 * The hub goes into the user's file, because its project files belong to other clients or to the team. It reads the
 * settings of a project only in folders that the user trusts, as the servers of the project themselves.
 */
export const copilot: Client = {
  name: 'copilot',
  title: 'Copilot CLI',
  aliases: ['copilot-cli', 'github-copilot'],
  files: (at) => [
    userFile(at),
    jsonFile({ path: join(at.workspace, '.mcp.json'), scope: 'project' }, ['mcpServers'], sameForm('.mcp.json')),
    jsonFile(
      { path: join(at.workspace, '.github', 'mcp.json'), scope: 'project' },
      ['mcpServers'],
      sameForm('.github/mcp.json'),
    ),
  ],
  places: (at) => [userFile(at)],
  write(draft) {
    if (draft.kind === 'stdio') return { type: 'local', ...programEntry(draft), tools: ['*'] };
    const headers = { Authorization: `Bearer \${${draft.tokenVariable}}` };
    return { type: 'http', url: draft.url, headers, tools: ['*'] };
  },
  switchOff({ scope }, { key }, at) {
    const steps = [{ kind: 'include', path: ['disabledMcpServers'], item: key } as const];
    const isUser = scope === 'user';
    const path = isUser
      ? join(folderOf(at), 'settings.json')
      : join(at.workspace, '.github', 'copilot', 'settings.local.json');
    return { kind: 'setting', path, dialect: 'jsonc', steps, reach: isUser ? 'everywhere' : 'project' };
  },
  traces: (at) => [folderOf(at)],
  restart: 'Start Copilot CLI again; `/mcp` lists its servers.',
};

function folderOf({ env, home }: ClientContext): string {
  const { COPILOT_HOME: folder } = env;
  return folder === undefined || folder === '' ? join(home, '.copilot') : folder;
}

function userFile(at: ClientContext): ClientFile {
  const path = join(folderOf(at), 'mcp-config.json');
  return jsonFile({ path, scope: 'user' }, ['mcpServers'], sameForm('.copilot/mcp-config.json'));
}
