import { z } from 'zod';
import { parseJsonc } from '../../files/parse-jsonc.ts';
import { child, lineAt, type SourceNode } from '../../files/source-tree.ts';
import { createEditorGrammar } from '../../servers/client-grammars.ts';
import { readClientBody } from '../../servers/client-server.ts';
import { booleanAt, textAt } from '../../texts.ts';
import type { FileOutcome, Nearby, Reader } from '../reader.ts';
import { type ClientFormat, ignored, warning } from './client-file.ts';
import { editorServerShape, readEditorFile, writeEditorVariable } from './editor-file.ts';

/** VS Code's workspace file. */
export const vscodeMcpJson: Reader = {
  place: { file: '.vscode/mcp.json' },
  grammar: createEditorGrammar(),
  workspaceNames: ['workspaceFolder'],
  restricts: false,
  writeVariable: writeEditorVariable,
  parse: parseJsonc,
  read: readVisualStudioFile,
};

/** Visual Studio has the same format in .mcp.json. */
export function readVisualStudioFile(root: SourceNode, file: string, nearby: Nearby): Promise<FileOutcome> {
  return readEditorFile(root, file, nearby, { ...format, inputs: inputDefaults(root) });
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
        const message = 'the sandbox is a feature of VS Code; the hub would start the program without it';
        const fix = 'Start the program in a sandbox of your own, with an entry in quartermaster.yaml.';
        findings.push({ ...warning(place, 'sandboxEnabled', line, message, fix), severity: 'error' });
      }
      return readClientBody(node, findings, place);
    },
  },
};

/** The file's defaults for prompted inputs. All other values must come from variables. */
function inputDefaults(root: SourceNode): Map<string, string> {
  const inputs = child(root, 'inputs');
  const defaults = new Map<string, string>();
  for (const input of inputs?.kind === 'list' ? inputs.items : []) {
    const [id, value] = [textAt(input, 'id'), textAt(input, 'default')];
    if (id !== undefined && value !== undefined) defaults.set(id, value);
  }
  return defaults;
}
