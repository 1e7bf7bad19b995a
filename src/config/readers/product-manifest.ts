import { z } from 'zod';
import { findRepeats } from '../files/find-repeats.ts';
import { parseJsonc } from '../files/parse-jsonc.ts';
import { child, type SourceEntry, type SourceMap, type SourceNode, sourceMap } from '../files/source-tree.ts';
import { dotted, type Finding, quote } from '../findings.ts';
import { findRepeatedSection } from '../read-sections.ts';
import { clientServerShape, isComment, readClientBody, withoutNoise } from '../servers/client-server.ts';
import { readServers, type ServersFormat } from '../servers/read-servers.ts';
import { textAt } from '../texts.ts';
import { shellGrammar } from '../variables/interpolation.ts';
import { lostFinding, mayRestrictAll, spoilAll } from './clients/client-file.ts';
import { emptyContent, type FileOutcome, type Reader } from './reader.ts';

/**
 * A product's manifest, with its servers under `mcp.servers`. Browser extensions, web apps and editors use the same
 * file names. A file without that key belongs to them.
 */
export function productManifest(file: 'product.json' | 'manifest.json'): Reader {
  return {
    place: { file },
    grammar: shellGrammar,
    workspaceNames: [],
    restricts: false,
    mayBeOurs: (text) => /"mcp"\s*:/.test(text) && /"servers"\s*:/.test(text),
    parse: parseJsonc,
    read,
  };
}

function read(root: SourceNode, file: string): FileOutcome {
  const mcp = child(root, 'mcp');
  const servers = child(mcp, 'servers');
  if (root.kind !== 'map' || mcp?.kind !== 'map' || servers === undefined) return { kind: 'foreign' };
  if (servers.kind === 'scalar') return { kind: 'foreign' };
  const twice = findRepeatedSection(root, file) ?? findRepeatedSection(mcp, file);
  if (twice !== undefined) return { kind: 'refused', finding: { severity: 'error', ...twice } };
  const drafts =
    servers.kind === 'list'
      ? readServers(servers.items.map(named), listFormat)
      : readServers(servers.entries.filter((entry) => !isComment(entry)).map(unpacked), mapFormat);
  const lost = mcp.entries.filter((entry) => mayRestrictAll(entry, ['servers']));
  const spoiled = spoilAll(
    drafts,
    lost.map((entry) => lostFinding(entry, 'mcp')),
  );
  return { kind: 'read', content: { ...emptyContent, servers: spoiled, findings: unread(mcp, lost) } };
}

const { type, tools } = clientServerShape;
const schema = z.strictObject({ ...clientServerShape, transport: type, allowedTools: tools });

const mapFormat: ServersFormat = {
  field: 'mcp.servers',
  schema,
  unknownKeys: 'warning',
  guards: ['tools', 'allowedTools', 'enabled', 'disabled'],
  keys: (node) => ({ type: child(node, 'transport') === undefined ? 'type' : 'transport' }),
  readBody: readClientBody,
};

const listFormat: ServersFormat = {
  ...mapFormat,
  schema: schema.extend({ name: z.string().min(1) }),
  step: (index) => index,
};

/** A list entry under its own name. An entry without one is reported by its number. */
function named(item: SourceNode, index: number): SourceEntry {
  return unpacked({ key: textAt(item, 'name') ?? `server-${index + 1}`, line: item.line, value: item });
}

/** Stored products keep the transport's keys under `config`. */
function unpacked(entry: SourceEntry): SourceEntry {
  const { value } = withoutNoise(entry);
  const config = child(value, 'config');
  // A repeated key is reported with the server.
  const isTwice = findRepeats(value, [['config']]).length > 0;
  if (value.kind !== 'map' || config?.kind !== 'map' || isTwice) return { ...entry, value };
  const beside = value.entries.filter(({ key }) => key !== 'config');
  return withoutNoise({ ...entry, value: sourceMap(value.line, [...beside, ...config.entries]) });
}

function unread(mcp: SourceMap, lost: readonly SourceEntry[]): Finding[] {
  return mcp.entries.flatMap((entry): Finding[] => {
    const { key, line } = entry;
    if (key === 'servers' || isComment(entry) || lost.includes(entry)) return [];
    return [{ severity: 'warning', line, field: dotted('mcp', key), message: `The key ${quote(key)} is ignored.` }];
  });
}
