import type { z } from 'zod';
import { checkNode, repeated } from './check-node.ts';
import { dotted, type Finding, hasError, quote } from './problems.ts';
import { checkName, type ServerBody, type ServerDraft, type ServerPlace } from './server-draft.ts';
import type { SourceEntry, SourceNode } from './source-tree.ts';
import { readTransport } from './transport-draft.ts';

export interface ServersFormat {
  /** Dotted path of the map that holds the servers; empty at the top of the file. */
  readonly field: string;
  readonly schema: z.ZodType;
  readonly unknownKeys: 'error' | 'warning';
  /** What stands beside the transport, from a node whose shape is right. */
  readBody(node: SourceNode, found: Finding[], place: ServerPlace): Omit<ServerBody, 'transport'>;
}

/** One draft for each name; a name written twice stands for a server that nobody can be sure of. */
export function readServers(entries: readonly SourceEntry[], format: ServersFormat): ServerDraft[] {
  const drafts = new Map<string, ServerDraft>();
  for (const entry of entries) {
    const first = drafts.get(entry.key);
    drafts.set(entry.key, first === undefined ? readServer(entry, format) : writtenTwice(first, entry.line));
  }
  return [...drafts.values()];
}

function readServer(entry: SourceEntry, format: ServersFormat): ServerDraft {
  const { key: name, line, value: node } = entry;
  const field = format.field === '' ? name : dotted(format.field, name);
  const findings: Finding[] = [];
  const badName = checkName('Server', name);
  if (badName !== undefined) findings.push({ severity: 'error', line, field, server: name, ...badName });
  const { unknownKeys } = format;
  const subject = `Server ${quote(name)}`;
  findings.push(...checkNode(format.schema, node, { field, subject, server: name, unknownKeys }));
  if (hasError(findings)) return { name, line, field, findings, body: undefined };
  const { transport, findings: more } = readTransport(node, { name, line, field });
  findings.push(...more);
  const rest = format.readBody(node, findings, { name, line, field });
  return { name, line, field, findings, body: transport === undefined ? undefined : { ...rest, transport } };
}

function writtenTwice(first: ServerDraft, line: number): ServerDraft {
  const { name, field } = first;
  const finding: Finding = {
    severity: 'error',
    line,
    field,
    server: name,
    ...repeated('Servers', name, first.line, line),
  };
  return { ...first, findings: [...first.findings, finding], body: undefined };
}
