import { z } from 'zod';
import { clientServerShape, isComment, readClientBody, withoutNoise } from '../client-server.ts';
import { shellGrammar } from '../interpolation.ts';
import { parseJsonc } from '../parse-jsonc.ts';
import { dotted, type Finding, quote } from '../problems.ts';
import { findRepeatedSection } from '../read-sections.ts';
import { readServers, type ServersFormat } from '../read-servers.ts';
import { child, entryOf, type SourceMap, type SourceNode, sourceMap } from '../source-tree.ts';
import { lostFinding, mayRestrictAll, spoilAll } from './client-file.ts';
import { emptyContent, type Reader, type Reading } from './reader.ts';

/** The tools of an automation as its platform stores them, saved as a file; its servers are under `mcp_servers`. */
export const enabledTools: Reader = {
  place: { file: 'enabled-tools.json' },
  grammar: shellGrammar,
  workspaceNames: [],
  restricts: false,
  parse: parseJsonc,
  read,
};

/** Switches for the platform's own tools, which are none of ours. */
const otherTools: ReadonlySet<string> = new Set([
  'slack_notify',
  'create_linear_issue',
  'email_user',
  'create_session',
]);

const ownKeys = ['mcp_servers', 'enabledTools', ...otherTools];

function read(root: SourceNode, file: string): Reading {
  if (root.kind !== 'map') return refuse(root.line, `${file} must hold an object with "mcp_servers".`);
  const wrapper = entryOf(root, 'mcp_servers') === undefined ? child(root, 'enabledTools') : undefined;
  const field = wrapper === undefined ? '' : 'enabledTools';
  const holder = wrapper?.kind === 'map' ? wrapper : root;
  const twice = findRepeatedSection(root, file) ?? findRepeatedSection(holder, file);
  if (twice !== undefined) return { kind: 'refused', finding: { severity: 'error', ...twice } };
  const section = child(holder, 'mcp_servers');
  if (section !== undefined && section.kind !== 'map') {
    return refuse(section.line, `"mcp_servers" must be an object.`, dotted(field, 'mcp_servers'));
  }
  const entries = (section?.entries ?? []).filter((entry) => !isComment(entry)).map(withoutNoise);
  const drafts = readServers(entries, { ...serversFormat, field: dotted(field, 'mcp_servers') });
  const lost = new Set([...root.entries, ...holder.entries].filter((entry) => mayRestrictAll(entry, ownKeys)));
  const servers = spoilAll(
    drafts,
    [...lost].map((entry) => lostFinding(entry)),
  );
  const unlost = (map: SourceMap): SourceMap =>
    sourceMap(
      map.line,
      map.entries.filter((entry) => !lost.has(entry)),
    );
  const findings = [
    ...unread(unlost(holder), field),
    ...(holder === root ? [] : unread(unlost(root), '', 'enabledTools')),
  ];
  return { kind: 'read', content: { ...emptyContent, servers, findings } };
}

const serversFormat: ServersFormat = {
  field: 'mcp_servers',
  schema: z.strictObject({ ...clientServerShape, allowedTools: clientServerShape.tools }),
  unknownKeys: 'warning',
  guards: ['tools', 'allowedTools', 'enabled', 'disabled'],
  readBody: readClientBody,
};

function refuse(line: number, message: string, field?: string): Reading {
  const fix = 'Write { "mcp_servers": { "name": { "type": "local", "command": ["…"], "enabled": true } } }.';
  return { kind: 'refused', finding: { severity: 'error', line, field, message, fix } };
}

function unread(holder: SourceMap, field: string, wrapper?: string): Finding[] {
  return holder.entries.flatMap((entry): Finding[] => {
    const { key, line } = entry;
    if (key === 'mcp_servers' || key === wrapper || otherTools.has(key) || isComment(entry)) return [];
    const message = `The key ${quote(key)} is not read.`;
    return [{ severity: 'warning', line, field: dotted(field, key), message, fix: 'Servers go into "mcp_servers".' }];
  });
}
