import { z } from 'zod';
import { repeated } from '../../check-node.ts';
import { parseJsonc } from '../../files/parse-jsonc.ts';
import { entryOf, type SourceEntry, type SourceNode } from '../../files/source-tree.ts';
import { type Finding, quote } from '../../findings.ts';
import { isComment, isServer, readClientBody, withoutNoise } from '../../servers/client-server.ts';
import { readServers, type ServersFormat } from '../../servers/read-servers.ts';
import { shellGrammar } from '../../variables/interpolation.ts';
import { emptyContent, type FileOutcome, type Reader } from '../reader.ts';
import { ignored, looseServerShape, lostFinding, mayRestrictAll, spoilAll, warning } from './client-file.ts';

/** Claude's project file. Copilot and others read it too. */
export const mcpJson: Reader = {
  place: { file: '.mcp.json' },
  grammar: shellGrammar,
  workspaceNames: ['CLAUDE_PROJECT_DIR'],
  restricts: false,
  parse: parseJsonc,
  read,
};

function read(root: SourceNode, file: string): FileOutcome {
  if (root.kind !== 'map') {
    return refuse({ line: root.line, message: `${file} must contain an object with "mcpServers".` });
  }
  const wrapped = root.entries.filter(({ key }) => key === 'mcpServers');
  const [first, second] = wrapped;
  if (first !== undefined && second !== undefined) {
    return refuse({ line: second.line, field: 'mcpServers', ...repeated(file, 'mcpServers', first.line, second.line) });
  }
  if (first !== undefined && first.value.kind !== 'map') {
    return refuse({ line: first.line, field: 'mcpServers', message: '"mcpServers" must be an object.' });
  }
  const findings: Finding[] = [];
  // Some files omit the wrapper.
  const entries = first?.value.kind === 'map' ? first.value.entries : root.entries.filter(isServer);
  const used = new Set(entries);
  const lost = root.entries.filter(
    (entry) => entry !== first && !used.has(entry) && mayRestrictAll(entry, [...desktopKeys]),
  );
  for (const entry of root.entries) {
    const isOurs = entry === first || used.has(entry) || (lost.includes(entry) && used.size > 0);
    if (!isOurs && !isComment(entry) && !desktopKeys.has(entry.key)) findings.push(unread(entry, first));
  }
  const format = { ...serversFormat, field: first === undefined ? '' : 'mcpServers' };
  const drafts = readServers(entries.filter((entry) => !isComment(entry)).map(withoutNoise), format);
  const servers = spoilAll(
    drafts,
    lost.map((entry) => lostFinding(entry)),
  );
  return { kind: 'read', content: { ...emptyContent, servers, findings } };
}

const serversFormat: ServersFormat = {
  field: 'mcpServers',
  schema: z.strictObject({ ...looseServerShape, oauth: ignored, alwaysLoad: ignored, headersHelper: ignored }),
  unknownKeys: 'warning',
  badNames: 'rename',
  readBody(node, findings, place) {
    const program = entryOf(node, 'headersHelper');
    if (program !== undefined) {
      const message = '"headersHelper" is a program that only Claude runs';
      findings.push(warning(place, 'headersHelper', program.line, message, 'Write "headers", with variables in them.'));
    }
    return readClientBody(node, findings, place);
  },
};

/** Settings of Claude Desktop, whose file has the same shape. */
const desktopKeys: ReadonlySet<string> = new Set(['globalShortcut', 'preferences']);

function refuse(finding: Omit<Finding, 'severity'>): FileOutcome {
  return { kind: 'refused', finding: { severity: 'error', fix: 'Write { "mcpServers": { … } }.', ...finding } };
}

function unread({ key, line, value }: SourceEntry, wrapper: SourceEntry | undefined): Finding {
  const strayed = wrapper !== undefined && isServer({ key, line, value });
  return {
    severity: 'warning',
    line,
    field: key,
    message: `The key ${quote(key)} is ignored.`,
    fix: strayed
      ? 'It looks like a server: move it into "mcpServers".'
      : wrapper === undefined
        ? 'Servers go into "mcpServers".'
        : undefined,
  };
}
