import type { z } from 'zod';
import { checkNode, knownKeys, repeated } from '../check-node.ts';
import type { SourceEntry, SourceNode } from '../files/source-tree.ts';
import { dotted, type Finding, hasError, quote } from '../findings.ts';
import { mentionsRestriction, narrowed, takeRestrictions } from '../restrictions/take-restrictions.ts';
import {
  checkName,
  fittingName,
  restricts,
  type ServerBody,
  type ServerDraft,
  type ServerPlace,
  type TransportDraft,
} from './server-draft.ts';
import { readTransport, type TransportKeys } from './transport-draft.ts';

export interface ServersFormat {
  /** Dotted path of the map with the servers. Empty at the top of the file. */
  readonly field: string;
  readonly schema: z.ZodType;
  readonly unknownKeys: 'error' | 'warning';
  /** Keys for which a likely typo is an error. */
  readonly guards?: readonly string[];
  /** The format gives a map of tools its own meaning. */
  readonly ownTools?: true;
  /** The path of an entry within its file, if it is not the entry's key. */
  readonly step?: (index: number) => PropertyKey;
  /** The format's own names for the parts of a transport. Some clients have two for the URL. */
  readonly keys?: (node: SourceNode) => TransportKeys;
  /** `rename`: the client allows spaces and slashes in names, so its servers need other names here. */
  readonly badNames?: 'rename';
  /** Reads all keys but the transport, from a node whose shape has been checked. */
  readBody(node: SourceNode, found: Finding[], place: ServerPlace): Omit<ServerBody, 'transport'>;
  /** Adds the parts of a transport that the format keeps under its own keys. */
  completeTransport?(transport: TransportDraft, node: SourceNode): TransportDraft;
}

/** One draft per name. A repeated name makes the server invalid, because it is unclear which entry is meant. */
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
  // Our own format has one key for each restriction.
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
  if (transport === undefined || hasError(findings)) return broken;
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
