import type { z } from 'zod';
import { checkNode, repeated } from './check-node.ts';
import { dotted, type Finding, hasError, quote } from './problems.ts';
import { checkName, fittingName, type ServerBody, type ServerDraft, type ServerPlace } from './server-draft.ts';
import type { SourceEntry, SourceNode } from './source-tree.ts';
import { readTransport, type TransportKeys } from './transport-draft.ts';

export interface ServersFormat {
  /** Dotted path of the map that holds the servers; empty at the top of the file. */
  readonly field: string;
  readonly schema: z.ZodType;
  readonly unknownKeys: 'error' | 'warning';
  readonly keys?: TransportKeys;
  /** `rename`: clients that allow blanks and slashes in names have servers that we must call otherwise. */
  readonly badNames?: 'rename';
  /** What stands beside the transport, from a node whose shape is right. */
  readBody(node: SourceNode, found: Finding[], place: ServerPlace): Omit<ServerBody, 'transport'>;
}

/** One draft for each name; a name written twice stands for a server that nobody can be sure of. */
export function readServers(entries: readonly SourceEntry[], format: ServersFormat): ServerDraft[] {
  const drafts = new Map<string, ServerDraft>();
  for (const entry of entries) {
    const name = nameOf(entry, format);
    const first = drafts.get(name);
    drafts.set(name, first === undefined ? readServer(entry, name, format) : writtenTwice(first, entry.line));
  }
  return [...drafts.values()];
}

function nameOf({ key }: SourceEntry, format: ServersFormat): string {
  if (format.badNames !== 'rename' || checkName('Server', key) === undefined) return key;
  return fittingName(key) ?? key;
}

function readServer(entry: SourceEntry, name: string, format: ServersFormat): ServerDraft {
  const { key, line, value: node } = entry;
  const field = format.field === '' ? key : dotted(format.field, key);
  const findings: Finding[] = [];
  const badName = checkName('Server', name);
  if (badName !== undefined) findings.push({ severity: 'error', line, field, server: name, ...badName });
  if (name !== key) findings.push({ severity: 'warning', line, field, server: name, ...renamed(key, name) });
  const { unknownKeys } = format;
  const subject = `Server ${quote(name)}`;
  findings.push(...checkNode(format.schema, node, { field, subject, server: name, unknownKeys }));
  if (hasError(findings)) return { name, line, field, findings, body: undefined };
  const { transport, findings: more } = readTransport(node, { name, line, field }, format.keys);
  findings.push(...more);
  const rest = format.readBody(node, findings, { name, line, field });
  return { name, line, field, findings, body: transport === undefined ? undefined : { ...rest, transport } };
}

function renamed(key: string, name: string): Pick<Finding, 'message' | 'fix'> {
  return {
    message: `Server ${quote(key)} is called ${quote(name)} here: names are letters, digits, ".", "_" and "-".`,
    fix: `Use ${quote(name)} for agents and policies, or rename it in the file.`,
  };
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
