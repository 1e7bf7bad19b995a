import type { z } from 'zod';
import { checkNode, repeated } from './check-node.ts';
import { dotted, type Finding, hasError, quote } from './problems.ts';
import {
  checkName,
  fittingName,
  type ServerBody,
  type ServerDraft,
  type ServerPlace,
  type TransportDraft,
} from './server-draft.ts';
import type { SourceEntry, SourceNode } from './source-tree.ts';
import { readTransport, type TransportKeys } from './transport-draft.ts';

export interface ServersFormat {
  /** Dotted path of the map that holds the servers; empty at the top of the file. */
  readonly field: string;
  readonly schema: z.ZodType;
  readonly unknownKeys: 'error' | 'warning';
  /** Keys that, mistyped, must not be passed over. */
  readonly guards?: readonly string[];
  /** What an entry is called inside its file, where that is not its key. */
  readonly step?: (index: number) => PropertyKey;
  /** The format's own words for the parts of a transport; some clients have two for the address. */
  readonly keys?: (node: SourceNode) => TransportKeys;
  /** `rename`: clients that allow blanks and slashes in names have servers that we must call otherwise. */
  readonly badNames?: 'rename';
  /** What stands beside the transport, from a node whose shape is right. */
  readBody(node: SourceNode, found: Finding[], place: ServerPlace): Omit<ServerBody, 'transport'>;
  /** What a format says of a transport under keys of its own. */
  completeTransport?(transport: TransportDraft, node: SourceNode): TransportDraft;
}

/** One draft for each name; a name written twice stands for a server that nobody can be sure of. */
export function readServers(entries: readonly SourceEntry[], format: ServersFormat): ServerDraft[] {
  const drafts = new Map<string, ServerDraft>();
  for (const [index, entry] of entries.entries()) {
    const name = nameOf(entry, format);
    const first = drafts.get(name);
    const field = dotted(format.field, format.step?.(index) ?? entry.key);
    drafts.set(
      name,
      first === undefined ? readServer(entry, { name, field }, format) : writtenTwice(first, entry.line),
    );
  }
  return [...drafts.values()];
}

function nameOf({ key }: SourceEntry, format: ServersFormat): string {
  if (format.badNames !== 'rename' || checkName('Server', key) === undefined) return key;
  return fittingName(key) ?? key;
}

function readServer(
  entry: SourceEntry,
  { name, field }: Pick<ServerPlace, 'name' | 'field'>,
  format: ServersFormat,
): ServerDraft {
  const { key, line, value: node } = entry;
  const findings: Finding[] = [];
  const badName = checkName('Server', name);
  if (badName !== undefined) findings.push({ severity: 'error', line, field, server: name, ...badName });
  if (name !== key) findings.push({ severity: 'warning', line, field, server: name, ...renamed(key, name) });
  const { unknownKeys, guards } = format;
  const subject = `Server ${quote(name)}`;
  findings.push(...checkNode(format.schema, node, { field, subject, server: name, unknownKeys, guards }));
  if (hasError(findings)) return { name, line, field, findings, body: undefined };
  const { transport, findings: more } = readTransport(node, { name, line, field }, format.keys?.(node));
  findings.push(...more);
  const rest = format.readBody(node, findings, { name, line, field });
  if (transport === undefined) return { name, line, field, findings, body: undefined };
  const complete = format.completeTransport?.(transport, node) ?? transport;
  return { name, line, field, findings, body: { ...rest, transport: complete } };
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
