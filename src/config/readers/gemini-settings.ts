import { z } from 'zod';
import type { ToolFilter } from '../../domain/index.ts';
import { bareShellGrammar } from '../interpolation.ts';
import { parseJsonc } from '../parse-jsonc.ts';
import type { Finding } from '../problems.ts';
import { readEnabled } from '../read-offer.ts';
import { completeLimits, fullAccess } from '../server-draft.ts';
import { child, entryOf, lineAt, type SourceNode } from '../source-tree.ts';
import { numberAt, textAt, textsAt } from '../texts.ts';
import { type ClientFormat, ignored, looseServerShape, readClientFile, warning } from './client-file.ts';
import type { Reader, Reading } from './reader.ts';

/** Gemini's settings of a project, of which the servers are one part. */
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
  // What Gemini asks a person about is no right that an agent has here.
  trust: ignored,
  oauth: ignored,
  authProviderType: ignored,
  targetAudience: ignored,
  targetServiceAccount: ignored,
  extension: ignored,
});

function read(root: SourceNode, file: string): Reading {
  const lists = readLists(root);
  if ('finding' in lists) return { kind: 'refused', finding: lists.finding };
  const reading = readClientFile(root, file, createFormat(lists, root));
  if (reading.kind !== 'read') return reading;
  const here = new Set(reading.content.servers.map(({ field }) => field.slice('mcpServers.'.length)));
  const elsewhere = lists.excluded.filter((name) => !here.has(name));
  const switchedOff = elsewhere.map((name) => ({ name, line: lineAt(root, ['mcp', 'excluded']) }));
  return { kind: 'read', content: { ...reading.content, ...(switchedOff.length === 0 ? {} : { switchedOff }) } };
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
          const message = '"url" is not read, because "httpUrl" is there';
          findings.push(warning(place, 'url', lineAt(node, ['url']), message, 'Keep one of the two.'));
        }
        if (child(node, 'authProviderType') !== undefined) {
          const line = lineAt(node, ['authProviderType']);
          const message = '"authProviderType" is a login of Gemini that the hub does not have';
          findings.push(warning(place, 'authProviderType', line, message, 'Write the header that the server wants.'));
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

/** Tools that the settings take away, of whichever server; a word with arguments is about Gemini's own. */
function excludedTools(root: SourceNode): readonly string[] {
  const names = [...(textsAt(child(root, 'tools'), 'exclude') ?? []), ...(textsAt(root, 'excludeTools') ?? [])];
  return names.filter((name) => !name.includes('('));
}

/** Which servers are on at all. Lists that cannot be read leave nothing to rely on. */
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
