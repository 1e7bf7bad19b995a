import { z } from 'zod';
import { parseJsonc } from '../../files/parse-jsonc.ts';
import { child, type SourceEntry, type SourceNode } from '../../files/source-tree.ts';
import { transportShape, transportTypes } from '../../schema.ts';
import { createEditorGrammar } from '../../servers/client-grammars.ts';
import { readClientBody } from '../../servers/client-server.ts';
import type { ServersFormat } from '../../servers/read-servers.ts';
import { completeLimits } from '../../servers/server-draft.ts';
import { numberAt } from '../../texts.ts';
import type { FileOutcome, Nearby, Reader } from '../reader.ts';
import { ignored } from './client-file.ts';
import { editorServerShape, readEditorFile, writeEditorVariable } from './editor-file.ts';
import { readVisualStudioFile } from './vscode-mcp-json.ts';

/** A client whose file is a map of servers like Claude's. */
interface LooseFile {
  readonly file: string;
  readonly client: string;
  /** It writes variables as editors do: `${env:NAME}`. Otherwise: `${NAME}`. */
  readonly variables?: 'editor';
  /** Its timeouts are in seconds. */
  readonly timeout?: 'seconds';
  /** The transport of an address without a type. Undefined: streamable HTTP. */
  readonly remote?: 'sse';
  /** Other programs use this file name too. */
  readonly isCommon?: true;
}

const files: readonly LooseFile[] = [
  { file: '.claude/mcp.json', client: 'Claude Code' },
  { file: '.kiro/settings/mcp.json', client: 'Kiro' },
  { file: '.amazonq/mcp.json', client: 'Amazon Q' },
  { file: '.junie/mcp/mcp.json', client: 'Junie' },
  { file: '.ai/mcp/mcp.json', client: 'JetBrains AI Assistant' },
  { file: '.roo/mcp.json', client: 'Roo Code', variables: 'editor', timeout: 'seconds' },
  { file: '.kilocode/mcp.json', client: 'Kilo Code', variables: 'editor', timeout: 'seconds' },
  { file: '.cline/mcp.json', client: 'Cline', variables: 'editor', timeout: 'seconds', remote: 'sse' },
  { file: '.windsurf/mcp_config.json', client: 'Windsurf', variables: 'editor' },
  { file: '.windsurf/mcp.json', client: 'Windsurf', variables: 'editor' },
  { file: '.trae/mcp.json', client: 'Trae', variables: 'editor' },
  { file: '.factory/mcp.json', client: 'Factory' },
  { file: '.agents/mcp_config.json', client: 'Antigravity' },
  { file: '.agents/mcp.json', client: 'the client' },
];

/** Clients with nothing but such a map. Their words for restrictions are read wherever they occur. */
export const looseFiles: readonly Reader[] = files.map(createReader);

/** A file that belongs to no client in particular. */
export const rootMcpJson: Reader = createReader({ file: 'mcp.json', client: 'the client', isCommon: true });

function createReader(loose: LooseFile): Reader {
  const { file, variables, isCommon } = loose;
  return {
    place: { file },
    grammar: createEditorGrammar(),
    workspaceNames: ['workspaceFolder', 'CLAUDE_PROJECT_DIR'],
    restricts: false,
    ...(variables === 'editor' ? { writeVariable: writeEditorVariable } : {}),
    ...(isCommon ? { mayBeOurs: (text: string) => /"(?:mcpServers|servers)"\s*:/.test(text) } : {}),
    parse: parseJsonc,
    read: (root, name, nearby) => read(root, name, nearby, loose),
  };
}

/** Reads such a map in a file that has more than that. */
export function readLooseServers(root: SourceNode, file: string, nearby: Nearby, client: string): Promise<FileOutcome> {
  return read(root, file, nearby, { file, client });
}

async function read(root: SourceNode, file: string, nearby: Nearby, loose: LooseFile): Promise<FileOutcome> {
  const { client, variables, isCommon } = loose;
  const [own, editors] = [child(root, 'mcpServers'), child(root, 'servers')];
  if (isCommon && !holdsServer(own) && !holdsServer(editors)) return { kind: 'foreign' };
  if (own === undefined && editors?.kind === 'map') return readVisualStudioFile(root, file, nearby);
  return readEditorFile(root, file, nearby, {
    client,
    key: 'mcpServers',
    others: ['inputs'],
    ...(variables === 'editor' ? {} : { write: (name) => `\${${name}}` }),
    servers: serversOf(loose),
  });
}

function holdsServer(node: SourceNode | undefined): boolean {
  return node?.kind === 'map' && node.entries.some(isReachable);
}

function isReachable({ value }: SourceEntry): boolean {
  return ['command', ...urlKeys].some((key) => child(value, key) !== undefined);
}

const urlKeys = ['url', 'serverUrl', 'httpUrl'];
const typeKeys = ['type', 'transport', 'transportType'];

const type = z.enum([...transportTypes, 'streamableHttp', 'streamable_http', 'remote']).optional();
const { url } = transportShape;

const schema = z.strictObject({
  ...editorServerShape,
  type,
  transport: type,
  transportType: type,
  serverUrl: url,
  httpUrl: url,
  auth: ignored,
  fromGalleryId: ignored,
  id: ignored,
  note: ignored,
  notes: ignored,
  oauth: ignored,
  oauthScopes: ignored,
  provider: ignored,
  trust: ignored,
  watchPaths: ignored,
});

function serversOf({ timeout, remote }: LooseFile): Pick<ServersFormat, 'schema' | 'guards' | 'keys' | 'readBody'> {
  return {
    schema,
    guards: ['disabled'],
    keys: (node) => ({
      type: typeKeys.find((key) => child(node, key) !== undefined) ?? 'type',
      url: urlKeys.find((key) => child(node, key) !== undefined) ?? 'url',
      ...(remote === undefined ? {} : { remote }),
    }),
    readBody(node, findings, place) {
      const body = readClientBody(node, findings, place);
      if (timeout !== 'seconds') return body;
      return { ...body, limits: completeLimits({ timeoutMs: secondsToMs(numberAt(node, 'timeout')) }) };
    },
  };
}

/** These clients allow an hour at most, so a larger number was meant as milliseconds. */
function secondsToMs(value: number | undefined): number | undefined {
  return value === undefined || value > 3_600 ? value : value * 1_000;
}
