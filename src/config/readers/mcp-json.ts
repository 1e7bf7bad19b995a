import { z } from 'zod';
import { repeated } from '../check-node.ts';
import { clientServerShape, isComment, isServer, readClientBody, withoutNoise } from '../client-server.ts';
import { shellGrammar } from '../interpolation.ts';
import { parseJsonc } from '../parse-jsonc.ts';
import { type Finding, quote } from '../problems.ts';
import { readServers, type ServersFormat } from '../read-servers.ts';
import type { SourceEntry, SourceNode } from '../source-tree.ts';
import { emptyContent, type Reader, type Reading } from './reader.ts';

/** Claude's project file, which Copilot and others read too. */
export const mcpJson: Reader = {
  place: { file: '.mcp.json' },
  grammar: shellGrammar,
  workspaceNames: ['CLAUDE_PROJECT_DIR'],
  restricts: false,
  parse: parseJsonc,
  read,
};

function read(root: SourceNode, file: string): Reading {
  if (root.kind !== 'map') {
    return refuse({ line: root.line, message: `${file} must hold an object with "mcpServers".` });
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
  // Some files leave the wrapper out.
  const entries = first?.value.kind === 'map' ? first.value.entries : root.entries.filter(isServer);
  const used = new Set(entries);
  for (const entry of root.entries) {
    if (entry !== first && !isComment(entry) && !used.has(entry)) findings.push(unread(entry, first));
  }
  const format = { ...serversFormat, field: first === undefined ? '' : 'mcpServers' };
  const servers = readServers(entries.filter((entry) => !isComment(entry)).map(withoutNoise), format);
  return { kind: 'read', content: { ...emptyContent, servers, findings } };
}

const serversFormat: ServersFormat = {
  field: 'mcpServers',
  schema: z.strictObject(clientServerShape),
  unknownKeys: 'warning',
  badNames: 'rename',
  readBody: readClientBody,
};

function refuse(finding: Omit<Finding, 'severity'>): Reading {
  return { kind: 'refused', finding: { severity: 'error', fix: 'Write { "mcpServers": { … } }.', ...finding } };
}

function unread({ key, line, value }: SourceEntry, wrapper: SourceEntry | undefined): Finding {
  const strayed = wrapper !== undefined && isServer({ key, line, value });
  return {
    severity: 'warning',
    line,
    field: key,
    message: `The key ${quote(key)} is not read.`,
    fix: strayed
      ? 'It looks like a server: move it into "mcpServers".'
      : wrapper === undefined
        ? 'Servers go into "mcpServers".'
        : undefined,
  };
}
