import { z } from 'zod';
import { parseJsonc } from '../../files/parse-jsonc.ts';
import { createEditorGrammar } from '../../servers/client-grammars.ts';
import { readClientBody } from '../../servers/client-server.ts';
import type { Reader } from '../reader.ts';
import { type ClientFormat, ignored } from './client-file.ts';
import { editorServerShape, readEditorFile, writeEditorVariable } from './editor-file.ts';

/** Cursor's project file. */
export const cursorMcpJson: Reader = {
  place: { file: '.cursor/mcp.json' },
  grammar: createEditorGrammar(),
  workspaceNames: ['workspaceFolder'],
  restricts: false,
  writeVariable: writeEditorVariable,
  parse: parseJsonc,
  read: (root, file, nearby) => readEditorFile(root, file, nearby, format),
};

const format: ClientFormat = {
  client: 'Cursor',
  key: 'mcpServers',
  others: [],
  servers: {
    schema: z.strictObject({ ...editorServerShape, auth: ignored }),
    guards: ['disabled'],
    readBody: readClientBody,
  },
};
