import { basename } from 'node:path';
import type { AgentSpec, ToolFilter } from '../../../domain/index.ts';
import { lockedAgent, lockNotice } from '../../agents/read-agents.ts';
import { findRepeats } from '../../files/find-repeats.ts';
import { parseJsonc } from '../../files/parse-jsonc.ts';
import { child, entryOf, type SourceMap, type SourceNode, sourceMap } from '../../files/source-tree.ts';
import { dotted, type Finding, hasError, quote } from '../../findings.ts';
import { looksRestrictive } from '../../restrictions/restriction-words.ts';
import { mentionsRestriction } from '../../restrictions/take-restrictions.ts';
import { createEditorGrammar } from '../../servers/client-grammars.ts';
import { fittingName } from '../../servers/server-draft.ts';
import { booleanAt, textAt } from '../../texts.ts';
import { emptyContent, type FileOutcome, type Mention, type Nearby, type Reader } from '../reader.ts';
import { readLooseServers } from './loose-files.ts';

interface AgentFolder {
  readonly folder: string;
  /** The client's file with servers for all of its agents. */
  readonly shared: string;
}

const folders: readonly AgentFolder[] = [
  { folder: '.amazonq/cli-agents', shared: '.amazonq/mcp.json' },
  { folder: '.kiro/agents', shared: '.kiro/settings/mcp.json' },
];

/** Agents of Amazon Q and Kiro: one file each, with servers, and the tools that the agent gets. */
export const qAgentFiles: readonly Reader[] = folders.map((place) => ({
  place: { folder: place.folder, endings: ['.json'] },
  grammar: createEditorGrammar(),
  workspaceNames: ['workspaceFolder'],
  restricts: true,
  oneAgent: true,
  parse: parseJsonc,
  read: (root, file, nearby) => read(root, { file, nearby, shared: place.shared }),
}));

interface Reading {
  readonly file: string;
  readonly nearby: Nearby;
  readonly shared: string;
}

async function read(root: SourceNode, reading: Reading): Promise<FileOutcome> {
  if (root.kind !== 'map' || !ownKeys.some((key) => child(root, key) !== undefined)) return { kind: 'foreign' };
  const { file, nearby } = reading;
  const onlyServers = sourceMap(
    root.line,
    root.entries.filter(({ key }) => key === 'mcpServers'),
  );
  const readResult = await readLooseServers(onlyServers, file, nearby, 'Amazon Q');
  if (readResult.kind !== 'read') return readResult;
  const name = nameOf(root, file);
  const { agent, findings, mentions } = await readAgent(root, name, reading);
  return {
    kind: 'read',
    content: {
      ...emptyContent,
      ...readResult.content,
      agents: new Map([[name, agent]]),
      findings: [...readResult.content.findings, ...findings],
      mentions,
    },
  };
}

const ownKeys = ['mcpServers', 'tools', 'allowedTools', 'toolsSettings'];

function nameOf(root: SourceMap, file: string): string {
  const called = basename(file, '.json');
  const name = textAt(root, 'name') ?? called;
  return fittingName(name) ?? called;
}

async function readAgent(
  root: SourceMap,
  name: string,
  reading: Reading,
): Promise<{
  readonly agent: AgentSpec;
  readonly findings: readonly Finding[];
  readonly mentions: readonly Mention[];
}> {
  const { file } = reading;
  const subject = `Agent ${quote(name)}`;
  const findings = findUnclear(root, subject).map((finding) => ({ ...finding, agent: name }));
  const source = { file, line: root.line };
  if (hasError(findings)) {
    return { agent: lockedAgent(name, source), findings: lockNotice(findings), mentions: [] };
  }
  const tools = child(root, 'tools');
  const mentions: Mention[] = [];
  const filters = new Map<string, ToolFilter>();
  for (const [index, item] of (tools?.kind === 'list' ? tools.items : []).entries()) {
    const text = item.kind === 'scalar' ? item.text : '';
    if (text === '*') for (const server of await allServers(root, reading)) filters.set(server, {});
    const [, server, tool] = /^@([^/]+)(?:\/(.+))?$/.exec(text) ?? [];
    if (server === undefined || server === 'builtin') continue;
    filters.set(server, added(filters.get(server), tool));
    mentions.push({ kind: 'name', text: server, line: item.line, field: dotted('tools', index), subject });
  }
  const limited = [...filters].filter(([, { include }]) => include !== undefined);
  const agent: AgentSpec = { name, source, servers: [...filters.keys()], tools: new Map(limited), policy: undefined };
  return { agent, findings, mentions };
}

/** `@server` means all of its tools, also next to `@server/tool`. */
function added(before: ToolFilter | undefined, tool: string | undefined): ToolFilter {
  if (tool === undefined || tool === '*' || (before !== undefined && before.include === undefined)) return {};
  return { include: [...(before?.include ?? []), tool] };
}

/** The servers of the agent's own file, and of the client's file if the agent uses that. */
async function allServers(root: SourceMap, { nearby, shared }: Reading): Promise<readonly string[]> {
  const own = child(root, 'mcpServers');
  const uses = booleanAt(root, 'useLegacyMcpJson') === true || booleanAt(root, 'includeMcpJson') === true;
  const source = uses ? await nearby(shared) : undefined;
  const parsed = source?.kind === 'text' ? parseJsonc(source.text) : undefined;
  const others = parsed?.kind === 'tree' ? child(parsed.root, 'mcpServers') : undefined;
  return [own, others].flatMap((map) =>
    map?.kind === 'map' ? map.entries.map(({ key }) => fittingName(key) ?? key) : [],
  );
}

/** `allowedTools` only skips confirmations. Settings of a server's tool may restrict it, and only the client knows how. */
function findUnclear(root: SourceMap, subject: string): Finding[] {
  const tools = child(root, 'tools');
  const isList = tools === undefined || (tools.kind === 'list' && tools.items.every(({ kind }) => kind === 'scalar'));
  const settings = child(root, 'toolsSettings');
  const items = tools?.kind === 'list' ? tools.items : [];
  const unclear = [
    ...items.flatMap((item, index) =>
      item.kind === 'scalar' && !toolForm.test(item.text) ? [{ field: dotted('tools', index), line: item.line }] : [],
    ),
    ...(isList ? [] : [{ field: 'tools', line: entryOf(root, 'tools')?.line }]),
    ...(settings?.kind === 'map' ? settings.entries : []).flatMap(({ key, line, value }) =>
      key.startsWith('@') && mentionsRestriction(value) ? [{ field: dotted('toolsSettings', key), line }] : [],
    ),
    ...root.entries.flatMap(({ key, line }) =>
      !known.has(key) && looksRestrictive(key) && aboutTools.test(key) ? [{ field: key, line }] : [],
    ),
  ];
  const twice = findRepeats(
    root,
    [...known, 'name'].filter((key) => key !== 'mcpServers').map((key) => [key]),
  );
  const repeats = twice.map((finding) => ({ ...finding, message: `${subject}: ${finding.message}` }));
  const others = unclear.map(
    ({ field, line }): Finding => ({
      severity: 'error',
      line,
      field,
      message: `${subject}: ${quote(field)} is not recognized and may be a restriction.`,
      fix: 'Write the rule in quartermaster.yaml, under policies, and remove it here.',
    }),
  );
  return [...repeats, ...others];
}

/** `*`, a tool of the client, `@server` or `@server/tool`. Anything before the name may be meant to take it away. */
const toolForm = /^(?:\*|@[^!@]+|\w[^@]*)$/;

/** Other keys, such as `includePowers`, are about the client. */
const aboutTools = /tool|server|mcp|^(?:block|den[iy]|disabl|disallow|exclu|forbid|restrict)/i;

const known: ReadonlySet<string> = new Set([...ownKeys, 'includeMcpJson', 'useLegacyMcpJson', 'toolAliases']);
