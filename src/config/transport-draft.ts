import { builtinNames, type TransportKind } from '../domain/index.ts';
import { dotted, type Finding, quote } from './problems.ts';
import type { ProgramDraft, ServerPlace, TransportDraft, WrittenText } from './server-draft.ts';
import { child, entryOf, lineAt, type SourceNode } from './source-tree.ts';

/** What a format calls the parts of a transport, where it has another word. */
export interface TransportKeys {
  readonly type?: string;
  readonly env?: string;
  readonly url?: string;
  readonly headers?: string;
  /** What an address is that has no type. */
  readonly remote?: 'http' | 'sse';
}

/**
 * How to reach a server, from the keys that most formats share. The node's shape has been checked.
 * The path is where it stands inside its server: `fallback.0`; nothing where it is the server itself.
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

/** Each of these keys alone says what kind of server it is. */
function decideKind(reader: TransportReader): TransportKind | undefined {
  const { node, keys } = reader;
  const type = textOf(child(node, keys.type));
  const [told, second] = ['command', keys.url, 'builtin'].filter((key) => child(node, key) !== undefined);
  if (second !== undefined) {
    report(
      reader,
      second,
      `it has both "${told}" and "${second}"`,
      `Keep "command" for a program, "${keys.url}" for an http server, or "builtin" for one that comes with the hub.`,
    );
    return undefined;
  }
  const wanted = kindOf(type);
  if (told === undefined) {
    reportMissing(reader, wanted);
    return undefined;
  }
  const kind = toldBy(told, wanted, keys.remote);
  if (wanted !== undefined && wanted !== kind) {
    report(
      reader,
      keys.type,
      `${keys.type} "${type}" does not go with "${told}"`,
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

function toldBy(key: string, wanted: TransportKind | undefined, remote: 'http' | 'sse'): TransportKind {
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
    'Write the program to start as "command", the address as "url", or one that comes with the hub as "builtin".',
  );
}

function warnUnread(reader: TransportReader, kind: TransportKind): void {
  const { env, url, headers } = reader.keys;
  const isRemote = kind === 'http' || kind === 'sse';
  for (const key of isRemote ? ['command', 'args', env, 'cwd'] : [url, headers]) {
    if (child(reader.node, key) === undefined) continue;
    report(
      reader,
      key,
      `"${key}" means nothing for ${isRemote ? 'an http server' : 'a program'} and is not read`,
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
      `no server ${quote(name ?? '')} comes with the hub`,
      `There are ${builtinNames.join(', ')}.`,
    );
    return undefined;
  }
  return { type: 'builtin', builtin, args: listOf(reader, 'args'), ...surroundings(reader) };
}

/** What a program is started with besides its arguments. */
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
      '"command" holds a blank and is taken as one program name',
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

/** A list of texts, or one text as a list of one. */
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
