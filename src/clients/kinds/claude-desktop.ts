import { join } from 'node:path';
import type { Client, ClientContext, ClientFile } from '../client.ts';
import { configHome, jsonFile, programEntry, sameForm } from '../json-entries.ts';

/** Its one file is for all projects. Servers behind a URL are added in its settings, not in the file. */
export const claudeDesktop: Client = {
  name: 'claude-desktop',
  title: 'Claude Desktop',
  aliases: ['desktop'],
  files: (at) => [ownFile(at)],
  places: (at) => [ownFile(at)],
  write: (draft) => (draft.kind === 'stdio' ? programEntry(draft) : undefined),
  switchOff: () => ({ kind: 'remove' }),
  traces: (at) => [folderOf(at)],
  restart: 'Quit Claude Desktop and open it again.',
};

function folderOf(at: ClientContext): string {
  const parent = at.platform === 'darwin' ? join(at.home, 'Library', 'Application Support') : configHome(at);
  return join(parent, 'Claude');
}

function ownFile(at: ClientContext): ClientFile {
  const path = join(folderOf(at), 'claude_desktop_config.json');
  return jsonFile({ path, scope: 'user' }, ['mcpServers'], sameForm('.mcp.json'));
}
