import { z } from 'zod';
import { createEditorGrammar } from '../client-grammars.ts';
import { readClientBody } from '../client-server.ts';
import { parseJsonc } from '../parse-jsonc.ts';
import { type ClientFormat, ignored } from './client-file.ts';
import { editorServerShape, readEditorFile, sayEditorVariable } from './editor-file.ts';
import type { Reader } from './reader.ts';

/** Cursor's file of a project. */
export const cursorMcpJson: Reader = {
  place: { file: '.cursor/mcp.json' },
  grammar: createEditorGrammar(),
  workspaceNames: ['workspaceFolder'],
  restricts: false,
  sayVariable: sayEditorVariable,
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
