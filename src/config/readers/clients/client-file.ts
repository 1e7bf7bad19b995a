import { z } from 'zod';
import { repeated } from '../../check-node.ts';
import {
  child,
  isNull,
  type SourceEntry,
  type SourceMap,
  type SourceNode,
  sourceMap,
} from '../../files/source-tree.ts';
import { dotted, type Finding, quote } from '../../findings.ts';
import { looksRestrictive, restrictionRole } from '../../restrictions/restriction-words.ts';
import { transportTypes } from '../../schema.ts';
import {
  clientServerShape,
  isComment,
  isSample,
  isServer,
  mapKeys,
  sampleNote,
  withoutNoise,
} from '../../servers/client-server.ts';
import { readServers, type ServersFormat } from '../../servers/read-servers.ts';
import type { ServerDraft, ServerPlace } from '../../servers/server-draft.ts';
import { emptyContent, type FileOutcome } from '../reader.ts';

export interface ClientFormat {
  /** The client's name in messages. */
  readonly client: string;
  /** The key that holds the servers. */
  readonly key: string;
  /** Other known top-level keys. `settings`: the file is mostly about other things. */
  readonly others: readonly string[] | 'settings';
  /** Top-level keys of settings with restrictions that the reader itself reads. */
  readonly reads?: readonly string[];
  readonly servers: Omit<ServersFormat, 'field' | 'unknownKeys' | 'badNames' | 'step'>;
  /** Entries that do not define a server but enable or disable one of another file. */
  readonly skip?: (entry: SourceEntry) => boolean;
  /** The entry with its keys where the other formats have them. */
  readonly unpack?: (entry: SourceEntry) => SourceEntry;
  /** The map with the servers, if newer files nest it one level deeper. */
  readonly holder?: (section: SourceMap) => { readonly map: SourceMap; readonly field: string } | undefined;
}

/** A documented key that has no meaning here. */
export const ignored = z.unknown().optional();

/** Keys that describe a server, or that skip confirmations in its client. They have no effect here. */
const remarks = {
  name: ignored,
  title: ignored,
  version: ignored,
  gallery: ignored,
  icon: ignored,
  alwaysAllow: ignored,
  autoApprove: ignored,
};

/** The keys of a server in files like Claude's, in the spellings of several clients. */
export const looseServerShape = {
  ...clientServerShape,
  ...remarks,
  type: z.enum([...transportTypes, 'streamableHttp', 'streamable_http']).optional(),
};

/** Reads files that keep their servers by name under one key. */
export function readClientFile(root: SourceNode, file: string, format: ClientFormat): FileOutcome {
  const { key } = format;
  if (root.kind !== 'map') {
    return refuse(format, { line: root.line, message: `${file} must contain an object with "${key}".` });
  }
  const [first, second] = root.entries.filter((entry) => entry.key === key);
  if (first !== undefined && second !== undefined) {
    return refuse(format, { line: second.line, field: key, ...repeated(file, key, first.line, second.line) });
  }
  if (first !== undefined && first.value.kind !== 'map' && !isNull(first.value)) {
    return refuse(format, { line: first.line, field: key, message: `"${key}" must be an object.` });
  }
  const section = first?.value.kind === 'map' ? first.value : undefined;
  const deeper = section === undefined ? undefined : format.holder?.(section);
  const [inner, again] =
    deeper === undefined ? [] : (section?.entries.filter((entry) => entry.key === 'servers') ?? []);
  if (inner !== undefined && again !== undefined) {
    return refuse(format, { line: again.line, field: key, ...repeated(file, 'servers', inner.line, again.line) });
  }
  const field = deeper?.field ?? key;
  const all = (deeper?.map ?? section)?.entries.filter((entry) => !isComment(entry)) ?? [];
  const samples = new Set(all.filter(isSample).map((entry) => dotted(field, entry.key)));
  const ours = all.filter((entry) => format.skip?.(entry) !== true);
  const unpacked = format.unpack === undefined ? ours : ours.map(format.unpack);
  const drafts = readServers(unpacked.map(tidy), {
    ...format.servers,
    field,
    unknownKeys: 'warning',
    badNames: 'rename',
  }).map((draft) => (samples.has(draft.field) ? { ...draft, isSample: true as const } : draft));
  const others = root.entries.filter((entry) => entry !== first);
  const lost = new Set(others.filter((entry) => mayRestrictAll(entry, format.others, format.reads)));
  const servers = spoilAll(
    drafts,
    [...lost].map((entry) => lostFinding(entry)),
  );
  const findings = [
    ...all.filter(isSample).map((entry) => sampleNote(entry, field)),
    ...others.flatMap((entry) => (lost.has(entry) && drafts.length > 0 ? [] : findUnread(entry, format))),
  ];
  const switchedOff = all.filter((entry) => format.skip?.(entry) === true && isOff(entry));
  const off = switchedOff.map(({ key: name, line }) => ({ name, line }));
  return {
    kind: 'read',
    content: { ...emptyContent, servers, findings, ...(off.length === 0 ? {} : { switchedOff: off }) },
  };
}

/** Whether a key next to the servers looks like a restriction on all of them. */
export function mayRestrictAll(
  entry: SourceEntry,
  known: ClientFormat['others'],
  reads: readonly string[] = [],
): boolean {
  if (reads.includes(entry.key) || isComment(entry) || isServer(entry)) return false;
  if (known === 'settings') return hidesTools(entry);
  if (known.includes(entry.key)) return false;
  return restrictionRole(entry.key) !== undefined || looksRestrictive(entry.key);
}

/** Settings are about many things. Only some words can be meant for the servers. */
function hidesTools({ key }: SourceEntry): boolean {
  return restrictionRole(key) === 'exclude' || (/mcp/i.test(key) && looksRestrictive(key));
}

export function lostFinding({ key, line }: SourceEntry, within = ''): Finding {
  return {
    severity: 'error',
    line,
    field: dotted(within, key),
    message: `the key ${quote(key)} next to the servers looks like a restriction but is not recognized.`,
    fix: 'Write it as rules in quartermaster.yaml, under policies, and remove it here.',
  };
}

/** Each server repeats them, so that many mistakes beside many servers would fill the memory. */
const mostRepeated = 5;

/** If the restrictions of a file are unclear, none of its servers can be used. */
export function spoilAll(drafts: readonly ServerDraft[], findings: readonly Finding[]): readonly ServerDraft[] {
  if (findings.length === 0) return drafts;
  return drafts.map((draft) => {
    const own = findings.slice(0, mostRepeated).map((finding) => {
      const { name: server } = draft;
      return { ...finding, server, message: `Server ${quote(server)}: ${finding.message}` };
    });
    return { ...draft, findings: [...draft.findings, ...own], body: undefined, unclear: true };
  });
}

function isOff({ value }: SourceEntry): boolean {
  if (value.kind !== 'map') return false;
  return value.entries.some(({ key, value: flag }) => {
    const role = restrictionRole(key);
    return (
      flag.kind === 'scalar' && ((role === 'on' && flag.value === false) || (role === 'off' && flag.value === true))
    );
  });
}

function refuse({ key }: ClientFormat, finding: Omit<Finding, 'severity'>): FileOutcome {
  return { kind: 'refused', finding: { severity: 'error', fix: `Write { "${key}": { … } }.`, ...finding } };
}

export function warning(place: ServerPlace, key: string, line: number, message: string, fix: string): Finding {
  return {
    severity: 'warning',
    line,
    field: dotted(place.field, key),
    server: place.name,
    message: `Server ${quote(place.name)}: ${message}.`,
    fix,
  };
}

/**
 * Null means that the program must not get the variable. Unnamed variables are never passed on, so dropping it is
 * enough.
 */
function tidy(entry: SourceEntry): SourceEntry {
  const { key, line, value } = withoutNoise(entry);
  if (value.kind !== 'map') return { key, line, value };
  const entries = value.entries.map((inner) =>
    mapKeys.has(inner.key) && inner.value.kind === 'map'
      ? {
          ...inner,
          value: sourceMap(
            inner.value.line,
            inner.value.entries.filter((each) => !isNull(each.value)),
          ),
        }
      : inner,
  );
  return { key, line, value: sourceMap(value.line, entries) };
}

function findUnread(entry: SourceEntry, { client, key, others }: ClientFormat): Finding[] {
  const found = { severity: 'warning', line: entry.line, field: entry.key } as const;
  if (serverKeys.has(entry.key) && entry.key !== key && holdsServers(entry)) {
    const message = `The servers in ${quote(entry.key)} are ignored: ${client} reads them from "${key}".`;
    return [{ ...found, message, fix: `Move them into "${key}".` }];
  }
  if (others === 'settings' || others.includes(entry.key) || isComment(entry)) return [];
  if (describing.has(entry.key) && !isServer(entry)) return [];
  const message = `The key ${quote(entry.key)} is ignored.`;
  return [{ ...found, message, fix: isServer(entry) ? `It looks like a server: move it into "${key}".` : undefined }];
}

const describing: ReadonlySet<string> = new Set(['version', 'name', 'description']);

/** The keys under which clients keep their servers. */
const serverKeys: ReadonlySet<string> = new Set(['mcpServers', 'servers', 'mcp_servers', 'context_servers', 'mcp']);

function holdsServers({ value }: SourceEntry): boolean {
  if (value.kind !== 'map') return false;
  return value.entries.some((entry) => isServer(entry)) || child(value, 'servers') !== undefined;
}
