import { builtinNames, type TransportKind } from '../../domain/index.ts';
import { child, entryOf, lineAt, type SourceNode } from '../files/source-tree.ts';
import { dotted, type Finding, quote } from '../findings.ts';
import type { ProgramDraft, ServerPlace, TransportDraft, WrittenText } from './server-draft.ts';

/** A format's own names for the parts of a transport, where they differ. */
export interface TransportKeys {
  readonly type?: string;
  readonly env?: string;
  readonly url?: string;
  readonly headers?: string;
  /** The transport of a URL without a type. */
  readonly remote?: 'http' | 'sse';
}

/**
 * Reads a transport from the keys that most formats share. The node's shape has been checked. The path is its place in
 * the server: `fallback.0`, or empty for the server itself.
 */
export function readTransport(
  node: SourceNode,
  server: ServerPlace,
  { type = 'type', env = 'env', url = 'url', headers = 'headers', remote = 'http' }: TransportKeys = {},
  path = '',
): { readonly transport: TransportDraft | undefined; readonly findings: readonly Finding[] } {
  const findings: Finding[] = [];
  const reader: TransportReader = { node, server, findings, keys: { type, env, url, headers, remote }, path };
  const kind = decideKind(reader);
  return { transport: kind === undefined ? undefined : readKind(reader, kind), findings };
}

interface TransportReader {
  readonly node: SourceNode;
  readonly server: ServerPlace;
  readonly findings: Finding[];
  readonly keys: Required<TransportKeys>;
  readonly path: string;
}

function readKind(reader: TransportReader, kind: TransportKind): TransportDraft | undefined {
  switch (kind) {
    case 'stdio':
      return readStdio(reader);
    case 'builtin':
      return readBuiltin(reader);
    default:
      return readRemote(reader, kind);
  }
}

/** Each of these keys alone determines the transport. If a server has several, its type decides. */
function decideKind(reader: TransportReader): TransportKind | undefined {
  const { node, keys } = reader;
  const type = textOf(child(node, keys.type));
  const wanted = kindOf(type);
  const present = ['command', keys.url, 'builtin'].filter((each) => child(node, each) !== undefined);
  const meant = present.filter((each) => kindByKey(each, wanted, keys.remote) === wanted);
  const [key, second] = present.length > 1 && meant.length === 1 ? meant : present;
  if (second !== undefined) {
    report(
      reader,
      second,
      `it has both "${key}" and "${second}"`,
      `Keep "command" for a program, "${keys.url}" for an http server, or "builtin" for a built-in server.`,
    );
    return undefined;
  }
  if (key === undefined) {
    reportMissing(reader, wanted);
    return undefined;
  }
  const kind = kindByKey(key, wanted, keys.remote);
  if (wanted !== undefined && wanted !== kind) {
    report(
      reader,
      keys.type,
      `${keys.type} "${type}" does not go with "${key}"`,
      `Write ${keys.type}: ${kind}, or leave it out.`,
    );
    return undefined;
  }
  warnUnread(reader, kind);
  return kind;
}

function kindOf(type: string | undefined): TransportKind | undefined {
  if (type === undefined) return undefined;
  if (type === 'stdio' || type === 'local') return 'stdio';
  return type === 'sse' || type === 'builtin' ? type : 'http';
}

function kindByKey(key: string, wanted: TransportKind | undefined, remote: 'http' | 'sse'): TransportKind {
  if (key === 'command') return 'stdio';
  if (key === 'builtin') return 'builtin';
  if (wanted === undefined) return remote;
  return wanted === 'sse' ? 'sse' : 'http';
}

function reportMissing(reader: TransportReader, wanted: TransportKind | undefined): void {
  if (wanted === 'builtin') {
    report(reader, 'builtin', '"builtin" is missing', `Write one of ${builtinNames.join(', ')} as "builtin".`);
    return;
  }
  const missing = wanted === undefined ? '"command" or "url"' : wanted === 'stdio' ? '"command"' : '"url"';
  report(
    reader,
    wanted === undefined || wanted === 'stdio' ? 'command' : 'url',
    `${missing} is missing`,
    'Write the program to start as "command", the address as "url", or the name of a built-in server as "builtin".',
  );
}

function warnUnread(reader: TransportReader, kind: TransportKind): void {
  const { env, url, headers } = reader.keys;
  const isRemote = kind === 'http' || kind === 'sse';
  const own = kind === 'stdio' ? 'command' : 'builtin';
  const others = isRemote ? ['command', 'args', env, 'cwd', 'builtin'] : ['command', 'builtin', url, headers];
  for (const key of others.filter((each) => isRemote || each !== own)) {
    if (child(reader.node, key) === undefined) continue;
    report(
      reader,
      key,
      `"${key}" does not apply to ${isRemote ? 'an http server' : 'a program'} and is ignored`,
      'Remove it.',
      'warning',
    );
  }
}

function readBuiltin(reader: TransportReader): TransportDraft | undefined {
  const name = textOf(child(reader.node, 'builtin'));
  const builtin = builtinNames.find((known) => known === name);
  if (builtin === undefined) {
    report(
      reader,
      'builtin',
      `there is no built-in server ${quote(name ?? '')}`,
      `Available: ${builtinNames.join(', ')}.`,
    );
    return undefined;
  }
  return { type: 'builtin', builtin, args: listOf(reader, 'args'), ...surroundings(reader) };
}

/** The environment and working directory of a program. */
function surroundings(reader: TransportReader): Pick<ProgramDraft, 'env' | 'cwd'> {
  const cwd = child(reader.node, 'cwd');
  return {
    env: mapOf(reader, reader.keys.env),
    cwd: cwd === undefined ? undefined : written(reader, ['cwd'], cwd),
  };
}

function readStdio(reader: TransportReader): TransportDraft | undefined {
  const words = listOf(reader, 'command');
  const [command, ...leading] = words;
  if (command === undefined || command.text === '') {
    report(reader, 'command', '"command" is empty', 'Write the program to start.');
    return undefined;
  }
  const args = [...leading, ...listOf(reader, 'args')];
  if (args.length === 0 && /^[^\s/\\]+\s+\S/.test(command.text)) {
    report(
      reader,
      'command',
      '"command" contains a space and is treated as one program name',
      'Put the arguments into "args"; no shell splits them.',
      'warning',
    );
  }
  return { type: 'stdio', command, args, ...surroundings(reader) };
}

function readRemote(reader: TransportReader, type: 'http' | 'sse'): TransportDraft | undefined {
  const key = reader.keys.url;
  const url = child(reader.node, key);
  return url === undefined
    ? undefined
    : { type, url: written(reader, [key], url), headers: mapOf(reader, reader.keys.headers) };
}

/** A list of texts. A single text becomes a list of one. */
function listOf(reader: TransportReader, key: string): WrittenText[] {
  const value = child(reader.node, key);
  if (value === undefined) return [];
  if (value.kind !== 'list') return [written(reader, [key], value)];
  return value.items.map((item, index) => written(reader, [key, index], item));
}

function mapOf(reader: TransportReader, key: string): Map<string, WrittenText> {
  const texts = new Map<string, WrittenText>();
  const map = child(reader.node, key);
  if (map?.kind !== 'map') return texts;
  for (const entry of map.entries) {
    texts.set(entry.key, written(reader, [key, entry.key], entry.value));
  }
  return texts;
}

function written(reader: TransportReader, path: readonly PropertyKey[], value: SourceNode): WrittenText {
  return { text: textOf(value) ?? '', line: lineAt(reader.node, path), field: dotted(reader.path, ...path) };
}

function textOf(node: SourceNode | undefined): string | undefined {
  return node?.kind === 'scalar' ? node.text : undefined;
}

function report(
  reader: TransportReader,
  key: string,
  message: string,
  fix: string,
  severity: Finding['severity'] = 'error',
): void {
  const { node, server } = reader;
  reader.findings.push({
    severity,
    line: entryOf(node, key)?.line ?? (reader.path === '' ? server.line : node.line),
    field: dotted(server.field, reader.path, key),
    server: server.name,
    message: `Server ${quote(server.name)}: ${message}.`,
    fix,
  });
}
