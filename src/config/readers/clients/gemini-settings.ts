import { z } from 'zod';
import type { ToolFilter } from '../../../domain/index.ts';
import { parseJsonc } from '../../files/parse-jsonc.ts';
import { child, entryOf, lineAt, type SourceNode } from '../../files/source-tree.ts';
import type { Finding } from '../../findings.ts';
import { readEnabled } from '../../servers/read-enabled-tools.ts';
import { completeLimits, fullAccess } from '../../servers/server-draft.ts';
import { numberAt, textAt, textsAt } from '../../texts.ts';
import { bareShellGrammar } from '../../variables/interpolation.ts';
import type { FileOutcome, Reader } from '../reader.ts';
import { type ClientFormat, ignored, looseServerShape, readClientFile, warning } from './client-file.ts';

/** Gemini's project settings, which include the servers. */
export const geminiSettings: Reader = {
  place: { file: '.gemini/settings.json' },
  grammar: bareShellGrammar,
  workspaceNames: [],
  restricts: false,
  parse: parseJsonc,
  read,
};

const { tools: _notGeminis, ...serverShape } = looseServerShape;

const serverSchema = z.strictObject({
  ...serverShape,
  httpUrl: z.string().min(1).optional(),
  includeTools: z.array(z.string()).optional(),
  excludeTools: z.array(z.string()).optional(),
  // Gemini's confirmations do not affect an agent's rights here.
  trust: ignored,
  oauth: ignored,
  authProviderType: ignored,
  targetAudience: ignored,
  targetServiceAccount: ignored,
  extension: ignored,
});

function read(root: SourceNode, file: string): FileOutcome {
  const lists = readLists(root);
  if ('finding' in lists) return { kind: 'refused', finding: lists.finding };
  const readResult = readClientFile(root, file, createFormat(lists, root));
  if (readResult.kind !== 'read') return readResult;
  const here = new Set(readResult.content.servers.map(({ field }) => field.slice('mcpServers.'.length)));
  const elsewhere = lists.excluded.filter((name) => !here.has(name));
  const switchedOff = elsewhere.map((name) => ({ name, line: lineAt(root, ['mcp', 'excluded']) }));
  return { kind: 'read', content: { ...readResult.content, ...(switchedOff.length === 0 ? {} : { switchedOff }) } };
}

interface Lists {
  readonly allowed: readonly string[] | undefined;
  readonly excluded: readonly string[];
}

function createFormat({ allowed, excluded }: Lists, root: SourceNode): ClientFormat {
  return {
    client: 'Gemini',
    key: 'mcpServers',
    others: 'settings',
    servers: {
      schema: serverSchema,
      guards: ['includeTools', 'excludeTools', 'disabled'],
      keys: (node) => (child(node, 'httpUrl') === undefined ? { remote: 'sse' } : { url: 'httpUrl' }),
      readBody(node, findings, place) {
        if (child(node, 'httpUrl') !== undefined && child(node, 'url') !== undefined) {
          const message = '"url" is ignored, because "httpUrl" is set';
          findings.push(warning(place, 'url', lineAt(node, ['url']), message, 'Keep one of the two.'));
        }
        if (child(node, 'authProviderType') !== undefined) {
          const line = lineAt(node, ['authProviderType']);
          const message = '"authProviderType" is a Gemini login that the hub does not support';
          findings.push(
            warning(place, 'authProviderType', line, message, 'Write the header that the server requires.'),
          );
        }
        const name = place.field.slice('mcpServers.'.length);
        const listed = (allowed?.includes(name) ?? true) && !excluded.includes(name);
        return {
          description: textAt(node, 'description'),
          enabled: readEnabled(node, findings, place) && listed,
          shared: false,
          tools: readTools(node, name, excludedTools(root)),
          limits: completeLimits({ timeoutMs: numberAt(node, 'timeout') }),
          fallbacks: [],
          access: fullAccess(place.line),
          instead: undefined,
        };
      },
    },
  };
}

function readTools(node: SourceNode, server: string, excluded: readonly string[]): ToolFilter {
  const include = textsAt(node, 'includeTools');
  const starts = [`mcp_${server}_`, `mcp__${server}__`, `${server}__`];
  const own = excluded.map((tool) => {
    const start = starts.find((each) => tool.startsWith(each));
    return start === undefined ? tool : tool.slice(start.length);
  });
  const exclude = [...(textsAt(node, 'excludeTools') ?? []), ...own];
  return { ...(include === undefined ? {} : { include }), ...(exclude.length === 0 ? {} : { exclude }) };
}

/** Tools that the settings exclude, from any server. An entry with arguments refers to Gemini's own tools. */
function excludedTools(root: SourceNode): readonly string[] {
  const names = [...(textsAt(child(root, 'tools'), 'exclude') ?? []), ...(textsAt(root, 'excludeTools') ?? [])];
  return names.filter((name) => !name.includes('('));
}

/** The enabled servers. If a list cannot be read, nothing in the file can be relied on. */
function readLists(root: SourceNode): Lists | { readonly finding: Finding } {
  const holder = child(root, 'mcp');
  for (const [node, key, field] of [
    [holder, 'allowed', 'mcp.allowed'],
    [holder, 'excluded', 'mcp.excluded'],
    [root, 'allowMCPServers', 'allowMCPServers'],
    [root, 'excludeMCPServers', 'excludeMCPServers'],
  ] as const) {
    const list = child(node, key);
    if (list === undefined || (list.kind === 'list' && list.items.every(({ kind }) => kind === 'scalar'))) continue;
    const message = `"${field}" must be a list of names.`;
    const line = entryOf(node, key)?.line ?? list.line;
    return { finding: { severity: 'error', line, field, message, fix: 'Write ["name", …].' } };
  }
  return {
    allowed: textsAt(holder, 'allowed') ?? textsAt(root, 'allowMCPServers'),
    excluded: [...(textsAt(holder, 'excluded') ?? []), ...(textsAt(root, 'excludeMCPServers') ?? [])],
  };
}
