import { z } from 'zod';
import { parseJsonc } from '../../files/parse-jsonc.ts';
import { readClientBody } from '../../servers/client-server.ts';
import { bareShellGrammar } from '../../variables/interpolation.ts';
import type { Reader } from '../reader.ts';
import { type ClientFormat, ignored, looseServerShape, readClientFile } from './client-file.ts';

/** The files that Copilot CLI reads in a repository, besides .mcp.json. */
export const copilotGithubJson: Reader = createReader('.github/mcp.json');
export const copilotConfigJson: Reader = createReader('.copilot/mcp-config.json');

function createReader(file: string): Reader {
  return {
    place: { file },
    grammar: bareShellGrammar,
    workspaceNames: [],
    restricts: false,
    parse: parseJsonc,
    read: (root, name) => readClientFile(root, name, format),
  };
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
