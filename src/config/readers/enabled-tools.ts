import { z } from 'zod';
import { parseJsonc } from '../files/parse-jsonc.ts';
import { child, entryOf, type SourceMap, type SourceNode, sourceMap } from '../files/source-tree.ts';
import { dotted, type Finding, quote } from '../findings.ts';
import { findRepeatedSection } from '../read-sections.ts';
import { clientServerShape, isComment, readClientBody, withoutNoise } from '../servers/client-server.ts';
import { readServers, type ServersFormat } from '../servers/read-servers.ts';
import { shellGrammar } from '../variables/interpolation.ts';
import { lostFinding, mayRestrictAll, spoilAll } from './clients/client-file.ts';
import { emptyContent, type FileOutcome, type Reader } from './reader.ts';

/** The tools of an automation, exported from its platform. The servers are under `mcp_servers`. */
export const enabledTools: Reader = {
  place: { file: 'enabled-tools.json' },
  grammar: shellGrammar,
  workspaceNames: [],
  restricts: false,
  parse: parseJsonc,
  read,
};

/** Switches for the platform's own tools, which the hub does not have. */
const otherTools: ReadonlySet<string> = new Set([
  'slack_notify',
  'create_linear_issue',
  'email_user',
  'create_session',
]);

const ownKeys = ['mcp_servers', 'enabledTools', ...otherTools];

function read(root: SourceNode, file: string): FileOutcome {
  if (root.kind !== 'map') return refuse(root.line, `${file} must contain an object with "mcp_servers".`);
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

function refuse(line: number, message: string, field?: string): FileOutcome {
  const fix = 'Write { "mcp_servers": { "name": { "type": "local", "command": ["…"], "enabled": true } } }.';
  return { kind: 'refused', finding: { severity: 'error', line, field, message, fix } };
}

function unread(holder: SourceMap, field: string, wrapper?: string): Finding[] {
  return holder.entries.flatMap((entry): Finding[] => {
    const { key, line } = entry;
    if (key === 'mcp_servers' || key === wrapper || otherTools.has(key) || isComment(entry)) return [];
    const message = `The key ${quote(key)} is ignored.`;
    return [{ severity: 'warning', line, field: dotted(field, key), message, fix: 'Servers go into "mcp_servers".' }];
  });
}
