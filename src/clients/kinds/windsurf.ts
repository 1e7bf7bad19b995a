import { join } from 'node:path';
import type { Client, ClientContext, ClientFile } from '../client.ts';
import { asMcpJson, jsonFile, programEntry } from '../json-entries.ts';

/** Its one file is for all projects. */
export const windsurf: Client = {
  name: 'windsurf',
  title: 'Windsurf',
  aliases: ['codeium', 'cascade'],
  files: (at) => [ownFile(at)],
  places: (at) => [ownFile(at)],
  write(draft) {
    if (draft.kind === 'stdio') return programEntry(draft);
    return { serverUrl: draft.url, headers: { Authorization: `Bearer \${env:${draft.tokenVariable}}` } };
  },
  switchOff({ path }, entry) {
    const steps = [{ kind: 'put', path: [...entry.path, 'disabled'], value: true } as const];
    return { kind: 'setting', path, dialect: 'jsonc', steps, reach: 'everywhere' };
  },
  isOff: ({ disabled }) => disabled === true,
  traces: (at) => [join(at.home, '.codeium', 'windsurf')],
  restart: 'Press the refresh button of the MCP servers in Windsurf.',
};

function ownFile({ home }: ClientContext): ClientFile {
  const path = join(home, '.codeium', 'windsurf', 'mcp_config.json');
  const readAs = asMcpJson(['mcpServers'], ({ serverUrl, ...entry }) =>
    serverUrl === undefined ? entry : { ...entry, url: serverUrl },
  );
  return jsonFile({ path, scope: 'user' }, ['mcpServers'], readAs);
}
