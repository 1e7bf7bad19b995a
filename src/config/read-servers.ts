import type { z } from 'zod';
import { checkNode, knownKeys, repeated } from './check-node.ts';
import { dotted, type Finding, hasError, quote } from './problems.ts';
import {
  checkName,
  fittingName,
  restricts,
  type ServerBody,
  type ServerDraft,
  type ServerPlace,
  type TransportDraft,
} from './server-draft.ts';
import type { SourceEntry, SourceNode } from './source-tree.ts';
import { mentionsRestriction, narrowed, takeRestrictions } from './take-restrictions.ts';
import { readTransport, type TransportKeys } from './transport-draft.ts';

export interface ServersFormat {
  /** Dotted path of the map that holds the servers; empty at the top of the file. */
  readonly field: string;
  readonly schema: z.ZodType;
  readonly unknownKeys: 'error' | 'warning';
  /** Keys that, mistyped, must not be passed over. */
  readonly guards?: readonly string[];
  /** The format has a meaning of its own for a map of tools. */
  readonly ownTools?: true;
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
    const draft = readServer(entry, { name, field }, format);
    drafts.set(name, first === undefined ? draft : writtenTwice(first, entry));
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
  const { key, line, value: written } = entry;
  const findings: Finding[] = [];
  const place = { name, line, field };
  // Our own file has one word for each thing.
  const known = format.unknownKeys === 'error' ? undefined : knownKeys(format.schema);
  const taken =
    known === undefined ? undefined : takeRestrictions(written, { known, ownTools: format.ownTools === true }, place);
  const node = taken?.rest ?? written;
  const badName = checkName('Server', name);
  if (badName !== undefined) findings.push({ severity: 'error', line, field, server: name, ...badName });
  if (name !== key) findings.push({ severity: 'warning', line, field, server: name, ...renamed(key, name) });
  const { unknownKeys, guards } = format;
  const subject = `Server ${quote(name)}`;
  findings.push(...checkNode(format.schema, node, { field, subject, server: name, unknownKeys, guards }));
  findings.push(...(taken?.findings ?? []));
  const broken: ServerDraft = {
    ...place,
    findings,
    body: undefined,
    ...(mentionsRestriction(written) ? { unclear: true } : {}),
  };
  if (hasError(findings)) return broken;
  const { transport, findings: more } = readTransport(node, place, format.keys?.(node));
  findings.push(...more);
  const rest = format.readBody(node, findings, place);
  if (transport === undefined) return broken;
  const complete = format.completeTransport?.(transport, node) ?? transport;
  const body = { ...rest, transport: complete };
  return { ...place, findings, body: taken === undefined ? body : narrowed(body, taken.restrictions) };
}

function renamed(key: string, name: string): Pick<Finding, 'message' | 'fix'> {
  return {
    message: `Server ${quote(key)} is called ${quote(name)} here: names are letters, digits, ".", "_" and "-".`,
    fix: `Use ${quote(name)} for agents and policies, or rename it in the file.`,
  };
}

function writtenTwice(first: ServerDraft, { line, value }: SourceEntry): ServerDraft {
  const { name, field, body } = first;
  const isUnclear = first.unclear === true || mentionsRestriction(value) || (body !== undefined && restricts(body));
  const finding: Finding = {
    severity: 'error',
    line,
    field,
    server: name,
    ...repeated('Servers', name, first.line, line),
  };
  const findings = [...first.findings, finding];
  return { ...first, findings, body: undefined, ...(isUnclear ? { unclear: true } : {}) };
}
