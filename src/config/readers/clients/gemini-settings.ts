// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables in configuration are written so.
import { sep } from 'node:path';
import { z } from 'zod';
import { parseJsonc } from '../../files/parse-jsonc.ts';
import { child, lineAt, type SourceNode } from '../../files/source-tree.ts';
import { readEnabled } from '../../servers/read-enabled-tools.ts';
import { completeLimits, fullAccess } from '../../servers/server-draft.ts';
import { numberAt, textAt, textsAt } from '../../texts.ts';
import { bareShellGrammar, type Grammar } from '../../variables/interpolation.ts';
import type { FileOutcome, Reader } from '../reader.ts';
import { type ClientFormat, ignored, looseServerShape, readClientFile, warning } from './client-file.ts';
import { type GeminiLists, type GeminiWords, geminiRules, readGeminiLists } from './gemini-lists.ts';

interface GeminiLike extends GeminiWords {
  readonly file: string;
  readonly client: string;
  readonly grammar?: Grammar;
  readonly workspaceNames?: readonly string[];
}

/** Gemini's project settings, which include the servers. */
export const geminiSettings: Reader = createReader({ file: '.gemini/settings.json', client: 'Gemini' });

/** Qwen Code comes from Gemini CLI and has rules of its own. */
export const qwenSettings: Reader = createReader({
  file: '.qwen/settings.json',
  client: 'Qwen Code',
  hasPatterns: true,
  hasRules: true,
});

/** An extension of Gemini that is developed in the workspace. Its own folder is the workspace then. */
export const geminiExtension: Reader = createReader({
  file: 'gemini-extension.json',
  client: 'Gemini',
  grammar: (text) => bareShellGrammar(text.replaceAll('${/}', sep).replaceAll('${pathSeparator}', sep)),
  workspaceNames: ['extensionPath', 'workspacePath'],
});

function createReader(like: GeminiLike): Reader {
  return {
    place: { file: like.file },
    grammar: like.grammar ?? bareShellGrammar,
    workspaceNames: like.workspaceNames ?? [],
    restricts: false,
    parse: parseJsonc,
    read: (root, file) => read(root, file, like),
  };
}

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
  // How Qwen Code starts servers and shows their apps.
  discoveryTimeoutMs: ignored,
  versionNegotiation: ignored,
  appResourceMaxBytes: ignored,
  appResourceTimeoutMs: ignored,
});

function read(root: SourceNode, file: string, like: GeminiLike): FileOutcome {
  const lists = readGeminiLists(root, file, like);
  if ('finding' in lists) return { kind: 'refused', finding: lists.finding };
  const readResult = readClientFile(root, file, createFormat(lists, like));
  if (readResult.kind !== 'read') return readResult;
  const here = new Set(readResult.content.servers.map(({ field }) => field.slice('mcpServers.'.length)));
  const elsewhere = lists.excluded.filter((name) => !here.has(name));
  const switchedOff = elsewhere.map((name) => ({ name, line: lineAt(root, ['mcp', 'excluded']) }));
  return { kind: 'read', content: { ...readResult.content, ...(switchedOff.length === 0 ? {} : { switchedOff }) } };
}

function createFormat(lists: GeminiLists, { client }: GeminiLike): ClientFormat {
  return {
    client,
    key: 'mcpServers',
    others: 'settings',
    reads: ['allowMCPServers', 'excludeMCPServers', 'excludeTools'],
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
          const message = `"authProviderType" is a login of ${client} that the hub does not support`;
          findings.push(
            warning(place, 'authProviderType', line, message, 'Write the header that the server requires.'),
          );
        }
        const name = place.field.slice('mcpServers.'.length);
        const rules = geminiRules(name, lists);
        const [include, exclude] = [textsAt(node, 'includeTools'), textsAt(node, 'excludeTools')];
        return {
          description: textAt(node, 'description'),
          enabled: readEnabled(node, findings, place) && lists.isListed(name),
          shared: false,
          tools: { ...(include === undefined ? {} : { include }), ...(exclude === undefined ? {} : { exclude }) },
          ...(rules.length === 0 ? {} : { rules }),
          limits: completeLimits({ timeoutMs: numberAt(node, 'timeout') }),
          fallbacks: [],
          access: fullAccess(place.line),
          instead: undefined,
        };
      },
    },
  };
}
