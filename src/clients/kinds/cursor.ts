import { join } from 'node:path';
import type { Client, ClientContext, ClientFile } from '../client.ts';
import { jsonFile, programEntry, sameForm } from '../json-entries.ts';

/** Servers are switched off in its own storage and not in a file. */
export const cursor: Client = {
  name: 'cursor',
  title: 'Cursor',
  aliases: [],
  files: (at) => [fileIn(at.workspace, 'project'), fileIn(at.home, 'user')],
  places: (at) => [fileIn(at.workspace, 'project'), fileIn(at.home, 'user')],
  write(draft) {
    if (draft.kind === 'stdio') return programEntry(draft);
    return { url: draft.url, headers: { Authorization: `Bearer \${env:${draft.tokenVariable}}` } };
  },
  switchOff: ({ scope }) => ({ kind: scope === 'project' ? 'move' : 'remove' }),
  traces: (at) => [join(at.home, '.cursor')],
  restart: 'Restart Cursor, then switch the server on under Customize, MCPs, if it is off.',
};

function fileIn(folder: ClientContext['home'], scope: ClientFile['scope']): ClientFile {
  return jsonFile({ path: join(folder, '.cursor', 'mcp.json'), scope }, ['mcpServers'], sameForm('.cursor/mcp.json'));
}
