import { dirname, join } from 'node:path';
import { z } from 'zod';
import { parseJsonc } from '../../files/parse-jsonc.ts';
import type { SourceText } from '../../files/source-file.ts';
import { child, entryOf, type SourceMap, type SourceNode, sourceMap } from '../../files/source-tree.ts';
import { warnForeignVariables, writtenTexts } from '../../files/written-texts.ts';
import { transportShape } from '../../schema.ts';
import { createOpencodeGrammar, filesNamedIn } from '../../servers/client-grammars.ts';
import { readEnabled } from '../../servers/read-enabled-tools.ts';
import { completeLimits, fullAccess, type ServerDraft } from '../../servers/server-draft.ts';
import { numberAt } from '../../texts.ts';
import type { FileOutcome, Nearby, Reader } from '../reader.ts';
import { type ClientFormat, ignored, readClientFile, spoilAll, warning } from './client-file.ts';
import { createOpencodeRulesFor, type OpencodeRules, readOpencodeRules } from './opencode-rules.ts';

/** OpenCode's project settings, which include the servers. The folder is stronger than the files beside it. */
const files = ['.opencode/opencode.jsonc', '.opencode/opencode.json', 'opencode.jsonc', 'opencode.json'];

export const opencodeFiles: readonly Reader[] = files.map(createReader);

function createReader(file: string): Reader {
  return {
    place: { file },
    grammar: createOpencodeGrammar(),
    workspaceNames: [],
    restricts: false,
    writeVariable: (name) => ({ text: `{env:${name}}` }),
    parse: parseJsonc,
    read,
  };
}

const { env: environment, command, args: _inCommand, cwd, url, headers } = transportShape;

const format: ClientFormat = {
  client: 'OpenCode',
  key: 'mcp',
  others: 'settings',
  // Enables or disables a server from the user's own settings.
  skip: ({ value }) =>
    value.kind === 'map' && value.entries.length === 1 && (value.index.has('enabled') || value.index.has('disabled')),
  holder: secondShape,
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
      disabled: z.boolean().optional(),
      timeout: z.number().positive().max(2_147_483_647).optional(),
      oauth: ignored,
    }),
    guards: ['enabled', 'disabled'],
    keys: () => ({ env: 'environment' }),
    readBody(node, findings, place) {
      const strayed = entryOf(node, 'env');
      if (strayed !== undefined) {
        const message = '"env" is ignored, because OpenCode calls it "environment"';
        findings.push(warning(place, 'env', strayed.line, message, 'Rename it to "environment".'));
      }
      const other = entryOf(node, 'disabled');
      if (other !== undefined && !place.field.startsWith('mcp.servers.')) {
        const message = '"disabled" is a key of OpenCode 2, which has its servers in "mcp.servers"';
        findings.push(warning(place, 'disabled', other.line, message, 'Write "enabled" here.'));
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

async function read(root: SourceNode, file: string, nearby: Nearby): Promise<FileOutcome> {
  const readResult = readClientFile(root, file, format);
  if (readResult.kind !== 'read') return readResult;
  const { content } = readResult;
  const fix = (name: string): string => `Write {env:${name}}.`;
  const drafts = content.servers.map((draft) => warnForeignVariables(draft, 'OpenCode', { fix }));
  const servers = await restrict(drafts, root, file, nearby);
  const named = await readFiles(servers, file, nearby);
  return { kind: 'read', content: { ...content, servers, grammar: createOpencodeGrammar(named) } };
}

/** OpenCode 2 keeps its servers in `mcp.servers`, unless that is a server with this name. */
function secondShape(section: SourceMap): { readonly map: SourceMap; readonly field: string } | undefined {
  const inner = child(section, 'servers');
  if (inner?.kind !== 'map' || !inner.entries.every(({ value }) => value.kind === 'map')) return undefined;
  const beside = section.entries.filter(({ key, value }) => key !== 'servers' && value.kind === 'map');
  return { map: sourceMap(inner.line, [...inner.entries, ...beside]), field: 'mcp.servers' };
}

/** OpenCode merges its files, so the restrictions of each apply to the servers of all. */
async function restrict(
  drafts: readonly ServerDraft[],
  root: SourceNode,
  file: string,
  nearby: Nearby,
): Promise<readonly ServerDraft[]> {
  if (drafts.length === 0) return drafts;
  const own = readOpencodeRules(root, file);
  const beside = await readBeside(file, nearby);
  const settings = [own, ...beside.values()].map(createOpencodeRulesFor);
  const sound = drafts.map((draft): ServerDraft => {
    if (draft.body === undefined) return draft;
    // A server may itself be called `servers.x`.
    const keys = new Set([draft.field.replace(/^mcp\./, ''), draft.field.replace(/^mcp\.(?:servers\.)?/, '')]);
    const rules = settings.flatMap((rulesFor) => [...keys].flatMap((key) => rulesFor(key) ?? []));
    return rules.length === 0 ? draft : { ...draft, body: { ...draft.body, rules } };
  });
  const elsewhere = [...beside].flatMap(([other, { findings }]) =>
    findings.map((finding) => ({ ...finding, line: undefined, message: `${other}: ${finding.message}` })),
  );
  return spoilAll(sound, [...own.findings, ...elsewhere]);
}

/** The rules of the other files. One that cannot be parsed denies everything by itself. */
async function readBeside(file: string, nearby: Nearby): Promise<ReadonlyMap<string, OpencodeRules>> {
  const rules = new Map<string, OpencodeRules>();
  for (const other of files.filter((each) => each !== file)) {
    const source = await nearby(other);
    const parsed = source.kind === 'text' ? parseJsonc(source.text) : undefined;
    if (parsed?.kind === 'tree') rules.set(other, readOpencodeRules(parsed.root, other));
  }
  return rules;
}

/** Paths are relative to the folder of the settings. */
async function readFiles(
  servers: readonly ServerDraft[],
  file: string,
  nearby: Nearby,
): Promise<Map<string, SourceText>> {
  const texts = servers.flatMap(({ body }) => (body === undefined ? [] : writtenTexts(body.transport)));
  const paths = new Set(texts.flatMap(({ text }) => filesNamedIn(text)));
  const at = (path: string): string => (/^[/~]/.test(path) ? path : join(dirname(file), path));
  return new Map(await Promise.all([...paths].map(async (path) => [path, await nearby(at(path))] as const)));
}
