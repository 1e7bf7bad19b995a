import { z } from 'zod';
import { addEnvFile, readEnvFileKey } from '../env-file.ts';
import type { WrittenText } from '../server-draft.ts';
import type { SourceNode } from '../source-tree.ts';
import { type ClientFormat, looseServerShape, readClientFile } from './client-file.ts';
import type { Nearby, Reading } from './reader.ts';

/** These clients have no list of tools; some describe them there, which keeps nobody from any. */
const { tools: _theirs, ...shapeWithoutTools } = looseServerShape;

/** What servers hold in the files of VS Code and of Cursor. */
export const editorServerShape = { ...shapeWithoutTools, envFile: z.string().optional() };

/** The file of an editor, whose servers may name a file with their environment. */
export async function readEditorFile(
  root: SourceNode,
  file: string,
  nearby: Nearby,
  format: ClientFormat,
): Promise<Reading> {
  const envFiles = new Map<string, WrittenText>();
  const servers: ClientFormat['servers'] = {
    ...format.servers,
    readBody(node, findings, place) {
      const envFile = readEnvFileKey(node);
      if (envFile !== undefined) envFiles.set(place.name, envFile);
      return format.servers.readBody(node, findings, place);
    },
  };
  const reading = readClientFile(root, file, { ...format, servers });
  if (reading.kind !== 'read') return reading;
  const drafts = reading.content.servers.map((draft) => addEnvFile(draft, envFiles.get(draft.name), nearby));
  return { kind: 'read', content: { ...reading.content, servers: await Promise.all(drafts) } };
}

export function sayEditorVariable(name: string): string {
  return `Write \${env:${name}}`;
}
