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
  return readClientFile(root, file, createFormat(lists));
}

interface Lists {
  readonly allowed: readonly string[] | undefined;
  readonly excluded: readonly string[];
}

function createFormat({ allowed, excluded }: Lists): ClientFormat {
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
          tools: readTools(node),
          limits: completeLimits({ timeoutMs: numberAt(node, 'timeout') }),
          fallbacks: [],
          access: fullAccess(place.line),
          instead: undefined,
        };
      },
    },
  };
}

function readTools(node: SourceNode): ToolFilter {
  const [include, exclude] = [textsAt(node, 'includeTools'), textsAt(node, 'excludeTools')];
  return { ...(include === undefined ? {} : { include }), ...(exclude === undefined ? {} : { exclude }) };
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
