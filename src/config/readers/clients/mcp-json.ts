import { z } from 'zod';
import { parseJsonc } from '../../files/parse-jsonc.ts';
import { child, entryOf, type SourceMap, type SourceNode, sourceMap } from '../../files/source-tree.ts';
import { warnForeignVariables } from '../../files/written-texts.ts';
import { isServer, readClientBody } from '../../servers/client-server.ts';
import { shellGrammar } from '../../variables/interpolation.ts';
import type { FileOutcome, Nearby, Reader } from '../reader.ts';
import { type ClientFormat, ignored, looseServerShape, readClientFile, warning } from './client-file.ts';
import { writeEditorVariable } from './editor-file.ts';
import { readVisualStudioFile } from './vscode-mcp-json.ts';

/** Claude's project file. Copilot and others read it too. Visual Studio has its own format under the same name. */
export const mcpJson: Reader = {
  place: { file: '.mcp.json' },
  grammar: shellGrammar,
  workspaceNames: ['CLAUDE_PROJECT_DIR', 'workspaceFolder'],
  restricts: false,
  parse: parseJsonc,
  read,
};

async function read(root: SourceNode, file: string, nearby: Nearby): Promise<FileOutcome> {
  if (isVisualStudios(root)) {
    const readResult = await readVisualStudioFile(root, file, nearby);
    if (readResult.kind !== 'read') return readResult;
    return { kind: 'read', content: { ...readResult.content, writeVariable: writeEditorVariable } };
  }
  const wrapped = root.kind === 'map' ? withWrapper(root) : undefined;
  const readResult = readClientFile(
    wrapped ?? root,
    file,
    wrapped === undefined ? format : { ...format, holder: atTop },
  );
  if (readResult.kind !== 'read') return readResult;
  const fix = (name: string): string => `Write \${${name}}.`;
  const servers = readResult.content.servers.map((draft) =>
    warnForeignVariables(draft, 'Claude Code', { fix, braces: 'read' }),
  );
  return { kind: 'read', content: { ...readResult.content, servers } };
}

function isVisualStudios(root: SourceNode): boolean {
  return entryOf(root, 'mcpServers') === undefined && child(root, 'servers')?.kind === 'map';
}

/** Some files omit the wrapper, and have their servers at the top. */
function withWrapper(root: SourceMap): SourceMap | undefined {
  if (entryOf(root, 'mcpServers') !== undefined) return undefined;
  const { line } = root;
  const servers = sourceMap(line, root.entries.filter(isServer));
  if (servers.entries.length === 0) return undefined;
  const others = root.entries.filter((entry) => !isServer(entry));
  return sourceMap(line, [{ key: 'mcpServers', line, value: servers }, ...others]);
}

const atTop: NonNullable<ClientFormat['holder']> = (section) => ({ map: section, field: '' });

const format: ClientFormat = {
  client: 'Claude Code',
  key: 'mcpServers',
  // Settings of Claude Desktop, whose file has the same shape.
  others: ['globalShortcut', 'preferences'],
  servers: {
    schema: z.strictObject({ ...looseServerShape, oauth: ignored, alwaysLoad: ignored, headersHelper: ignored }),
    readBody(node, findings, place) {
      const program = entryOf(node, 'headersHelper');
      if (program !== undefined) {
        const message = '"headersHelper" is a program that only Claude runs';
        const fix = 'Write "headers", with variables in them.';
        findings.push(warning(place, 'headersHelper', program.line, message, fix));
      }
      return readClientBody(node, findings, place);
    },
  },
};
