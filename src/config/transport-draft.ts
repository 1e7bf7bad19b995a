import type { TransportKind } from '../domain/index.ts';
import { dotted, type Finding, quote } from './problems.ts';
import type { ServerPlace, TransportDraft, WrittenText } from './server-draft.ts';
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
  const transport = kind === undefined ? undefined : kind === 'stdio' ? readStdio(reader) : readRemote(reader, kind);
  return { transport, findings };
}

interface TransportReader {
  readonly node: SourceNode;
  readonly server: ServerPlace;
  readonly findings: Finding[];
  readonly keys: Required<TransportKeys>;
  readonly path: string;
}

function decideKind(reader: TransportReader): TransportKind | undefined {
  const { node, keys } = reader;
  const type = textOf(child(node, keys.type));
  const command = child(node, 'command') !== undefined;
  const url = child(node, keys.url) !== undefined;
  if (command && url) {
    report(
      reader,
      keys.url,
      `it has both "command" and "${keys.url}"`,
      `Keep "command" for a program or "${keys.url}" for an http server.`,
    );
    return undefined;
  }
  const wanted = kindOf(type);
  if (!command && !url) {
    const missing = wanted === undefined ? '"command" or "url"' : wanted === 'stdio' ? '"command"' : '"url"';
    report(
      reader,
      wanted === undefined || wanted === 'stdio' ? 'command' : 'url',
      `${missing} is missing`,
      'Write the program to start as "command", or the address as "url".',
    );
    return undefined;
  }
  const kind = command ? 'stdio' : wanted === undefined ? keys.remote : wanted === 'sse' ? 'sse' : 'http';
  if (wanted !== undefined && wanted !== kind) {
    report(
      reader,
      keys.type,
      `${keys.type} "${type}" does not go with "${command ? 'command' : keys.url}"`,
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
  return type === 'sse' ? 'sse' : 'http';
}

function warnUnread(reader: TransportReader, kind: TransportKind): void {
  const { env, url, headers } = reader.keys;
  for (const key of kind === 'stdio' ? [url, headers] : ['command', 'args', env, 'cwd']) {
    if (child(reader.node, key) === undefined) continue;
    report(
      reader,
      key,
      `"${key}" means nothing for ${kind === 'stdio' ? 'a program' : 'an http server'} and is not read`,
      'Remove it.',
      'warning',
    );
  }
}

function readStdio(reader: TransportReader): TransportDraft | undefined {
  const { node } = reader;
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
  const cwd = child(node, 'cwd');
  return {
    type: 'stdio',
    command,
    args,
    env: mapOf(reader, reader.keys.env),
    cwd: cwd === undefined ? undefined : written(reader, ['cwd'], cwd),
  };
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
