import { basename } from 'node:path';
import { z } from 'zod';
import type { SourceNode } from '../../files/source-tree.ts';
import { warnForeignVariables } from '../../files/written-texts.ts';
import { createEditorGrammar, createLenientGrammar } from '../../servers/client-grammars.ts';
import type { ServerDraft, WrittenText } from '../../servers/server-draft.ts';
import { addEnvFile, readEnvFileKey } from '../../variables/env-file.ts';
import type { WrittenVariable } from '../../variables/literal-secrets.ts';
import type { FileOutcome, Nearby } from '../reader.ts';
import { type ClientFormat, looseServerShape, readClientFile } from './client-file.ts';

/** These clients have no list of allowed tools. Some describe tools under this key, which restricts nothing. */
const { tools: _theirs, ...shapeWithoutTools } = looseServerShape;

/** The keys of a server in the files of VS Code and Cursor. */
export const editorServerShape = { ...shapeWithoutTools, envFile: z.string().optional() };

export interface EditorFormat extends ClientFormat {
  /** The file's defaults for inputs, by id. */
  readonly inputs?: ReadonlyMap<string, string>;
  /** How the client writes a variable. Undefined: `${env:NAME}`. */
  readonly write?: (name: string) => string;
}

/** Reads an editor's file. Its servers may refer to a file with their environment. */
export async function readEditorFile(
  root: SourceNode,
  file: string,
  nearby: Nearby,
  format: EditorFormat,
): Promise<FileOutcome> {
  const { client, inputs = new Map(), write = editorVariable } = format;
  const envFiles = new Map<string, WrittenText>();
  const servers: ClientFormat['servers'] = {
    ...format.servers,
    readBody(node, findings, place) {
      const envFile = readEnvFileKey(node);
      if (envFile !== undefined) envFiles.set(place.name, envFile);
      return format.servers.readBody(node, findings, place);
    },
  };
  const readResult = readClientFile(root, file, { ...format, servers });
  if (readResult.kind !== 'read') return readResult;
  const drafts = readResult.content.servers
    .map((draft) => leaveToProgram(draft, inputs))
    .map((draft) => warnForeignVariables(draft, client, { fix: (name) => `Write ${write(name)}.`, braces: 'read' }))
    .map((draft) => addEnvFile(draft, envFiles.get(draft.name), nearby));
  const grammar = createEditorGrammar(inputs);
  return { kind: 'read', content: { ...readResult.content, grammar, servers: await Promise.all(drafts) } };
}

/**
 * No editor expands `${X}`, so a shell expands it in its script, and other programs do so with variables of their own
 * environment. Elsewhere nobody would, so that it is meant for the hub.
 */
function leaveToProgram(draft: ServerDraft, inputs: ReadonlyMap<string, string>): ServerDraft {
  const { body } = draft;
  if (body?.transport.type !== 'stdio') return draft;
  const { command, env } = body.transport;
  const isShell = shellNames.test(basename(command.text));
  const lenient = createLenientGrammar(inputs, (name) => !isShell && !env.has(name));
  const args = body.transport.args.map((arg) =>
    isShell || env.size > 0 ? { ...arg, template: lenient(arg.text) } : arg,
  );
  return { ...draft, body: { ...body, transport: { ...body.transport, args } } };
}

const shellNames = /^(?:ba|da|fi|k|z)?sh$/;

export function writeEditorVariable(name: string): WrittenVariable {
  return { text: editorVariable(name) };
}

function editorVariable(name: string): string {
  return `\${env:${name}}`;
}
