import { z } from 'zod';
import { createEditorGrammar } from '../client-grammars.ts';
import { readClientBody } from '../client-server.ts';
import { parseJsonc } from '../parse-jsonc.ts';
import { child, lineAt, type SourceNode } from '../source-tree.ts';
import { booleanAt, textAt } from '../texts.ts';
import { type ClientFormat, ignored, warning } from './client-file.ts';
import { editorServerShape, readEditorFile, sayEditorVariable } from './editor-file.ts';
import type { Nearby, Reader, Reading } from './reader.ts';

/** VS Code's file of a workspace. */
export const vscodeMcpJson: Reader = {
  place: { file: '.vscode/mcp.json' },
  grammar: createEditorGrammar(),
  workspaceNames: ['workspaceFolder'],
  restricts: false,
  sayVariable: sayEditorVariable,
  parse: parseJsonc,
  read,
};

async function read(root: SourceNode, file: string, nearby: Nearby): Promise<Reading> {
  const reading = await readEditorFile(root, file, nearby, format);
  if (reading.kind !== 'read') return reading;
  return { kind: 'read', content: { ...reading.content, grammar: createEditorGrammar(inputDefaults(root)) } };
}

const format: ClientFormat = {
  client: 'VS Code',
  key: 'servers',
  others: ['inputs', 'sandbox'],
  servers: {
    schema: z.strictObject({
      ...editorServerShape,
      dev: ignored,
      oauth: ignored,
      sandbox: ignored,
      sandboxEnabled: z.boolean().optional(),
    }),
    guards: ['disabled', 'sandboxEnabled'],
    readBody(node, findings, place) {
      if (booleanAt(node, 'sandboxEnabled') === true) {
        const line = lineAt(node, ['sandboxEnabled']);
        const message = 'the sandbox is one of VS Code, and the hub would start the program without it';
        const fix = 'Start the program in a sandbox of your own, with an entry in quartermaster.yaml.';
        findings.push({ ...warning(place, 'sandboxEnabled', line, message, fix), severity: 'error' });
      }
      return readClientBody(node, findings, place);
    },
  },
};

/** What the file offers where a person is asked; all else must come from variables. */
function inputDefaults(root: SourceNode): Map<string, string> {
  const inputs = child(root, 'inputs');
  const defaults = new Map<string, string>();
  for (const input of inputs?.kind === 'list' ? inputs.items : []) {
    const [id, value] = [textAt(input, 'id'), textAt(input, 'default')];
    if (id !== undefined && value !== undefined) defaults.set(id, value);
  }
  return defaults;
}
