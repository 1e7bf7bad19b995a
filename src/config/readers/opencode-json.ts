import { z } from 'zod';
import { createOpencodeGrammar, filesNamedIn } from '../client-grammars.ts';
import { parseJsonc } from '../parse-jsonc.ts';
import { readEnabled } from '../read-offer.ts';
import { transportShape } from '../schema.ts';
import { completeLimits, fullAccess, type ServerDraft } from '../server-draft.ts';
import type { SourceText } from '../source-file.ts';
import { entryOf, type SourceNode } from '../source-tree.ts';
import { numberAt } from '../texts.ts';
import { warnForeignVariables, writtenTexts } from '../written-texts.ts';
import { type ClientFormat, ignored, readClientFile, warning } from './client-file.ts';
import type { Nearby, Reader, Reading } from './reader.ts';

/** OpenCode's settings of a project, of which the servers are one part. */
export const opencodeJson: Reader = createReader('opencode.json');
export const opencodeJsonc: Reader = createReader('opencode.jsonc');

function createReader(file: string): Reader {
  return {
    place: { file },
    grammar: createOpencodeGrammar(),
    workspaceNames: [],
    restricts: false,
    sayVariable: (name) => `Write {env:${name}}`,
    parse: parseJsonc,
    read,
  };
}

const { env: environment, command, args: _inCommand, cwd, url, headers } = transportShape;

const format: ClientFormat = {
  client: 'OpenCode',
  key: 'mcp',
  others: 'settings',
  // A server of the user's own settings, switched on or off here.
  skip: ({ value }) => value.kind === 'map' && value.entries.length === 1 && value.index.has('enabled'),
  servers: {
    schema: z.strictObject({
      type: z.enum(['local', 'remote']).optional(),
      command,
      cwd,
      environment,
      env: ignored,
      url,
      headers,
      enabled: z.boolean().optional(),
      timeout: z.number().positive().max(2_147_483_647).optional(),
      oauth: ignored,
    }),
    guards: ['enabled'],
    keys: () => ({ env: 'environment' }),
    readBody(node, findings, place) {
      const strayed = entryOf(node, 'env');
      if (strayed !== undefined) {
        const message = '"env" is not read, because OpenCode calls it "environment"';
        findings.push(warning(place, 'env', strayed.line, message, 'Rename it to "environment".'));
      }
      return {
        description: undefined,
        enabled: readEnabled(node, findings, place),
        shared: false,
        tools: {},
        limits: completeLimits({ timeoutMs: numberAt(node, 'timeout') }),
        fallbacks: [],
        access: fullAccess(place.line),
        instead: undefined,
      };
    },
  },
};

async function read(root: SourceNode, file: string, nearby: Nearby): Promise<Reading> {
  const reading = readClientFile(root, file, format);
  if (reading.kind !== 'read') return reading;
  const { content } = reading;
  const servers = content.servers.map((draft) => warnForeignVariables(draft, 'OpenCode', 'Write {env:NAME}.'));
  const files = await readFiles(servers, nearby);
  return { kind: 'read', content: { ...content, servers, grammar: createOpencodeGrammar(files) } };
}

async function readFiles(servers: readonly ServerDraft[], nearby: Nearby): Promise<Map<string, SourceText>> {
  const texts = servers.flatMap(({ body }) => (body === undefined ? [] : writtenTexts(body.transport)));
  const paths = new Set(texts.flatMap(({ text }) => filesNamedIn(text)));
  return new Map(await Promise.all([...paths].map(async (path) => [path, await nearby(path)] as const)));
}
