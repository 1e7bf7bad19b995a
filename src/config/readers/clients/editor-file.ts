import { z } from 'zod';
import type { SourceNode } from '../../files/source-tree.ts';
import type { WrittenText } from '../../servers/server-draft.ts';
import { addEnvFile, readEnvFileKey } from '../../variables/env-file.ts';
import type { WrittenVariable } from '../../variables/literal-secrets.ts';
import type { FileOutcome, Nearby } from '../reader.ts';
import { type ClientFormat, looseServerShape, readClientFile } from './client-file.ts';

/** These clients have no list of allowed tools. Some describe tools under this key, which restricts nothing. */
const { tools: _theirs, ...shapeWithoutTools } = looseServerShape;

/** The keys of a server in the files of VS Code and Cursor. */
export const editorServerShape = { ...shapeWithoutTools, envFile: z.string().optional() };

/** Reads an editor's file. Its servers may refer to a file with their environment. */
export async function readEditorFile(
  root: SourceNode,
  file: string,
  nearby: Nearby,
  format: ClientFormat,
): Promise<FileOutcome> {
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
  const drafts = readResult.content.servers.map((draft) => addEnvFile(draft, envFiles.get(draft.name), nearby));
  return { kind: 'read', content: { ...readResult.content, servers: await Promise.all(drafts) } };
}

export function writeEditorVariable(name: string): WrittenVariable {
  return { text: `\${env:${name}}` };
}
