import { join } from 'node:path';
import type { Client, ClientContext, ClientFile } from '../client.ts';
import { configHome, jsonFile, programEntry, sameForm } from '../json-entries.ts';

/** Servers are switched off in its own storage and not in a file. */
export const vsCode: Client = {
  name: 'vscode',
  title: 'VS Code',
  aliases: ['vs-code', 'code', 'visual-studio-code'],
  files: (at) => [projectFile(at), userFile(at), portableFile(at), copilotFile(at)],
  places: (at) => [projectFile(at), userFile(at)],
  write(draft) {
    if (draft.kind === 'stdio') return { type: 'stdio', ...programEntry(draft) };
    return { type: 'http', url: draft.url, headers: { Authorization: `Bearer \${env:${draft.tokenVariable}}` } };
  },
  switchOff({ scope, path }, _entry, at) {
    if (path === copilotFile(at).path) {
      return { kind: 'none', why: 'that file belongs to Copilot CLI, and VS Code has no setting for its servers' };
    }
    return { kind: scope === 'project' ? 'move' : 'remove' };
  },
  traces: (at) => [folderOf(at), join(at.home, '.vscode')],
  restart:
    'VS Code detects the changed file automatically. Start the server from the file or with the command "MCP: List Servers".',
};

function folderOf(at: ClientContext): string {
  const parent = at.platform === 'darwin' ? join(at.home, 'Library', 'Application Support') : configHome(at);
  return join(parent, 'Code', 'User');
}

function projectFile({ workspace }: ClientContext): ClientFile {
  const path = join(workspace, '.vscode', 'mcp.json');
  return jsonFile({ path, scope: 'project' }, ['servers'], sameForm('.vscode/mcp.json'));
}

function userFile(at: ClientContext): ClientFile {
  return jsonFile({ path: join(folderOf(at), 'mcp.json'), scope: 'user' }, ['servers'], sameForm('.vscode/mcp.json'));
}

/** It reads the files of Claude Code and Copilot CLI too. */
function portableFile({ workspace }: ClientContext): ClientFile {
  const path = join(workspace, '.mcp.json');
  return jsonFile({ path, scope: 'project' }, ['mcpServers'], sameForm('.mcp.json'));
}

function copilotFile({ home }: ClientContext): ClientFile {
  const path = join(home, '.copilot', 'mcp-config.json');
  return jsonFile({ path, scope: 'user' }, ['mcpServers'], sameForm('.copilot/mcp-config.json'));
}
