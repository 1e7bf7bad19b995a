// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables in configuration are written so.
import { join } from 'node:path';
import type { Client, ClientContext, ClientFile } from '../client.ts';
import { asMcpJson, jsonFile, programEntry, sameForm } from '../json-entries.ts';

/**
 * Its local scope is the user's own file, under the path of the repository; a worktree has that of its main checkout.
 * There is also its switch, `disabledMcpServers`, which covers entries of every scope.
 */
export const claudeCode: Client = {
  name: 'claude-code',
  title: 'Claude Code',
  aliases: ['claude', 'claudecode'],
  files: (at) => [...ownFiles(at), ...projectFiles(at)],
  places: (at) => [...ownFiles(at), ...projectFiles(at)],
  write(draft) {
    if (draft.kind === 'stdio') return { type: 'stdio', ...programEntry(draft) };
    return { type: 'http', url: draft.url, headers: { Authorization: `Bearer \${${draft.tokenVariable}}` } };
  },
  switchOff(_file, { key }, at) {
    const path = [...localServers(at).slice(0, -1), 'disabledMcpServers'];
    const steps = [{ kind: 'include', path, item: key } as const];
    return { kind: 'setting', path: ownFile(at), dialect: 'jsonc', steps, reach: 'project' };
  },
  traces: (at) => [ownFile(at), join(at.home, '.claude')],
  restart: 'Start a new session of Claude Code in this folder; `/mcp` lists its servers.',
};

function ownFile({ env, home }: ClientContext): string {
  const { CLAUDE_CONFIG_DIR: folder } = env;
  return join(folder === undefined || folder === '' ? home : folder, '.claude.json');
}

function localServers({ project }: ClientContext): readonly string[] {
  return ['projects', project, 'mcpServers'];
}

function ownFiles(at: ClientContext): ClientFile[] {
  const [path, local] = [ownFile(at), localServers(at)];
  return [
    jsonFile({ path, scope: 'local' }, local, asMcpJson(local)),
    jsonFile({ path, scope: 'user' }, ['mcpServers'], asMcpJson(['mcpServers'])),
  ];
}

function projectFiles({ workspace, project }: ClientContext): ClientFile[] {
  return [...new Set([workspace, project])].map((folder) =>
    jsonFile({ path: join(folder, '.mcp.json'), scope: 'project' }, ['mcpServers'], sameForm('.mcp.json')),
  );
}
