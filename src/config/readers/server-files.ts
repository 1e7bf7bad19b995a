import { basename, extname } from 'node:path';
import { checkNode } from '../check-node.ts';
import { parseJsonc } from '../files/parse-jsonc.ts';
import { parseYaml } from '../files/parse-yaml.ts';
import { readCache } from '../files/read-cache.ts';
import { readFileAccess } from '../files/read-file-access.ts';
import { child, entryOf, isNull, type SourceMap, type SourceNode } from '../files/source-tree.ts';
import { dotted, type Finding, hasError, quote } from '../findings.ts';
import { mentionsRestriction, narrowed, takeRestrictions } from '../restrictions/take-restrictions.ts';
import { transportTypes } from '../schema.ts';
import { asBuiltinPostgres } from '../servers/postgres-file.ts';
import { readEnabled, readFileTools } from '../servers/read-enabled-tools.ts';
import { readFallbacks } from '../servers/read-fallbacks.ts';
import { readLimits } from '../servers/read-limits.ts';
import { checkName, type ServerDraft, type ServerPlace } from '../servers/server-draft.ts';
import { serverFileGuards, serverFileKeys, serverFileSchema } from '../servers/server-file-schema.ts';
import { tidied } from '../servers/tidy-server-file.ts';
import { readTransport } from '../servers/transport-draft.ts';
import { textAt } from '../texts.ts';
import { shellGrammar } from '../variables/interpolation.ts';
import { emptyContent, type FileOutcome, type Nearby, type Reader } from './reader.ts';

/** A folder with one server per file, in any of the three forms in use. */
export function serverFiles(folder: string, endings: readonly string[]): Reader {
  return {
    place: { folder, endings },
    grammar: shellGrammar,
    workspaceNames: [],
    restricts: false,
    serverOf: (file) => basename(file, extname(file)),
    parse: (text, file) => (file.endsWith('.json') ? parseJsonc(text) : parseYaml(text)),
    read,
  };
}

async function read(root: SourceNode, file: string, nearby: Nearby): Promise<FileOutcome> {
  if (isNull(root))
    return remark({ line: 1, message: `${file} is empty.`, fix: 'Describe a server in it, or remove it.' });
  if (root.kind !== 'map') {
    const finding = {
      severity: 'error',
      line: root.line,
      message: `${file} must contain a map.`,
      fix: example,
    } as const;
    return { kind: 'refused', finding };
  }
  const type = textAt(root, 'type') ?? 'mcp';
  const database = type === 'postgres' ? asBuiltinPostgres(root) : undefined;
  if (database !== undefined) return oneServer(readFile(database, file));
  if (type !== 'mcp' && !isTransportType(type) && !socket.test(type)) {
    return remark({
      line: entryOf(root, 'type')?.line,
      field: 'type',
      message: `${file} describes something of type ${quote(type)}, which is not an MCP server, and is ignored.`,
      fix: `Remove the file, or describe an MCP server in it. ${example}`,
    });
  }
  return oneServer(await reportOrphan(readFile(root, file), file, nearby));
}

function oneServer(draft: ServerDraft): FileOutcome {
  return { kind: 'read', content: { ...emptyContent, servers: [draft] } };
}

/** A file that `sync` made stays when its source is removed. Whoever removed the source hardly expects that. */
async function reportOrphan(draft: ServerDraft, file: string, nearby: Nearby): Promise<ServerDraft> {
  const { name, line, madeFrom } = draft;
  if (madeFrom === undefined || !madeFrom.startsWith('ops/adk/servers/')) return draft;
  if ((await nearby(madeFrom)).kind !== 'absent') return draft;
  const finding: Finding = {
    severity: 'warning',
    line,
    field: 'metadata.source',
    server: name,
    message: `Server ${quote(name)}: ${file} was made from ${quote(madeFrom)}, which does not exist any more.`,
    fix: 'Remove it with `qm sync --prune`, or put its source back.',
  };
  return { ...draft, findings: [...draft.findings, finding] };
}

const example = 'Write id, and transport with type and command or url.';

const socket = /^wss?$|^web-?socket$/i;

function isTransportType(type: string): boolean {
  return transportTypes.some((known) => known === type);
}

function remark(finding: Omit<Finding, 'severity'>): FileOutcome {
  return { kind: 'read', content: { ...emptyContent, findings: [{ severity: 'warning', ...finding }] } };
}

function readFile(written: SourceMap, file: string): ServerDraft {
  const root = tidied(written);
  const findings: Finding[] = [];
  const place = { name: nameOf(root, file, findings), line: root.line, field: '' };
  const draft = { ...place, madeFrom: textAt(child(root, 'metadata'), 'source'), findings };
  findings.push(...findSockets(root, place));
  if (hasError(findings)) return { ...draft, body: undefined };
  const taken = takeRestrictions(root, { known: serverFileKeys }, place);
  const unclear =
    mentionsRestriction(root) || child(root, 'permissions') !== undefined ? { unclear: true as const } : {};
  const subject = `Server ${quote(place.name)}`;
  const options = { field: '', subject, server: place.name, unknownKeys: 'warning', guards: serverFileGuards } as const;
  findings.push(...checkNode(serverFileSchema, taken.rest, options), ...taken.findings, ...findExtra(root, place));
  if (hasError(findings)) return { ...draft, body: undefined, ...unclear };
  const transport = readTransportOf(root, findings, place);
  const body = {
    description: textAt(root, 'description'),
    enabled: readEnabled(root, findings, place),
    shared: false,
    tools: readFileTools(root, findings, place),
    limits: readLimits(root, findings, place),
    fallbacks: readFallbacks(root, findings, place),
    access: readFileAccess(root, findings, place),
    cache: readCache(root),
    instead: textAt(root, 'instead') ?? textAt(root, 'fallback_hint'),
  };
  if (transport === undefined) return { ...draft, body: undefined, ...unclear };
  return { ...draft, body: narrowed({ ...body, transport }, taken.restrictions) };
}

/** Permissions that `sync` found and did not understand. */
function findExtra(root: SourceMap, { name }: ServerPlace): Finding[] {
  const extra = child(child(root, 'permissions'), 'extra');
  return (extra?.kind === 'map' ? extra.entries : []).map(({ key, line }) => ({
    severity: 'error',
    line,
    field: dotted('permissions.extra', key),
    server: name,
    message: `Server ${quote(name)}: the permission ${quote(key)} is not recognized.`,
    fix: 'Write it as a rule in quartermaster.yaml, under policies, and remove it here.',
  }));
}

/** The name in the file, else the file's own name. */
function nameOf(root: SourceMap, file: string, findings: Finding[]): string {
  const called = basename(file, extname(file));
  const key = textAt(root, 'id') === undefined ? 'server_id' : 'id';
  const name = textAt(root, key) ?? called;
  const badName = checkName('Server', name);
  const at = { line: entryOf(root, key)?.line ?? root.line, field: key, server: name };
  if (badName !== undefined) findings.push({ severity: 'error', ...at, ...badName });
  const other = textAt(root, 'server_id') ?? name;
  for (const [differs, what] of [
    [other !== name, `"id" and "server_id" differ, and "id" counts`],
    [called !== name, `its file is called ${quote(basename(file))}`],
  ] as const) {
    if (!differs) continue;
    const message = `Server ${quote(name)}: ${what}.`;
    findings.push({ severity: 'warning', ...at, message, fix: 'Give both the same name.' });
  }
  return name;
}

function readTransportOf(
  root: SourceMap,
  findings: Finding[],
  place: ServerPlace,
): ReturnType<typeof readTransport>['transport'] {
  const nested = entryOf(root, 'transport');
  const flat = ['command', 'url', 'builtin'].flatMap((key) => entryOf(root, key) ?? [])[0];
  if (nested !== undefined && flat !== undefined) {
    findings.push({
      severity: 'error',
      line: flat.line,
      field: flat.key,
      server: place.name,
      message: `Server ${quote(place.name)}: it has "${flat.key}" beside "transport" as well.`,
      fix: 'Move it into "transport", or remove one of them.',
    });
  }
  const { transport, findings: found } = readTransport(
    nested?.value ?? root,
    place,
    {},
    nested === undefined ? '' : 'transport',
  );
  findings.push(...found);
  return transport;
}

/** Other tools use WebSocket, so this deserves a clearer message than "must be one of". */
function findSockets(root: SourceMap, place: ServerPlace): Finding[] {
  const fallback = child(root, 'fallback');
  const nodes: [string, SourceNode | undefined][] = [
    ['', root],
    ['transport', child(root, 'transport')],
    ...(fallback?.kind === 'list' ? fallback.items : []).map((item, at): [string, SourceNode] => [
      `fallback.${at}`,
      item,
    ]),
  ];
  return nodes.flatMap(([path, node]): Finding[] => {
    if (!socket.test(textAt(node, 'type') ?? '')) return [];
    return [
      {
        severity: 'error',
        line: entryOf(node, 'type')?.line,
        field: dotted(path, 'type'),
        server: place.name,
        message: `Server ${quote(place.name)}: "${dotted(path, 'type')}" is WebSocket, which is not supported.`,
        fix: 'Use type: http, sse or stdio; most servers that offer WebSocket offer http too.',
      },
    ];
  });
}
