import { z } from 'zod';
import { parseJsonc } from '../../files/parse-jsonc.ts';
import { child, entryOf, type SourceNode } from '../../files/source-tree.ts';
import { readClientBody } from '../../servers/client-server.ts';
import { bareShellGrammar } from '../../variables/interpolation.ts';
import type { Reader } from '../reader.ts';
import { type ClientFormat, ignored, looseServerShape, readClientFile } from './client-file.ts';

/** The files that Copilot reads in a repository, besides .mcp.json. */
export const copilotFiles: readonly Reader[] = [
  '.github/mcp.json',
  '.copilot/mcp-config.json',
  '.github/copilot/mcp.json',
].map(createReader);

function createReader(file: string): Reader {
  return {
    place: { file },
    grammar: bareShellGrammar,
    workspaceNames: [],
    restricts: false,
    parse: parseJsonc,
    read: (root, name) => readClientFile(root, name, { ...format, key: keyOf(root) }),
  };
}

/** Some have the key of VS Code's file. */
function keyOf(root: SourceNode): string {
  return entryOf(root, format.key) === undefined && child(root, 'servers')?.kind === 'map' ? 'servers' : format.key;
}

const format: ClientFormat = {
  client: 'Copilot',
  key: 'mcpServers',
  others: ['inputs'],
  servers: {
    schema: z.strictObject({
      ...looseServerShape,
      auth: ignored,
      displayName: ignored,
      filterMapping: ignored,
      isDefaultServer: ignored,
      oauthClientId: ignored,
      oauthGrantType: ignored,
      oauthPublicClient: ignored,
      source: ignored,
      sourcePath: ignored,
    }),
    guards: ['tools', 'disabled'],
    readBody: readClientBody,
  },
};
