import { createHash } from 'node:crypto';
import { parseDocument } from 'yaml';
import { isJsonObject } from '../base/index.ts';

/** One file of `ops/adk/servers/` as `qm sync` sees it. */
export type Emitted =
  | { readonly kind: 'server'; readonly id: string; readonly text: string }
  /** A document of another type, which sync ignores. */
  | { readonly kind: 'other'; readonly type: string }
  | { readonly kind: 'wrong'; readonly message: string; readonly fix: string };

export interface SourceFile {
  /** Relative to the workspace. */
  readonly file: string;
  readonly text: string;
}

/**
 * The JSON form of a server's YAML: one shape for all three generations of that format, with sorted keys and unexpanded
 * variables. The digest distinguishes it from files that people wrote themselves.
 */
export function emitServer({ file, text }: SourceFile): Emitted {
  const document = parseDocument(text, { prettyErrors: false });
  if (document.errors.length > 0) return wrong('cannot be parsed', 'Correct it; `qm ls` says in which line.');
  const source: unknown = document.toJS();
  if (!isJsonObject(source)) return wrong('must contain a map', 'Write id: and transport:.');
  const type = source.type ?? 'mcp';
  if (type !== 'mcp' && !isTransportType(type)) return { kind: 'other', type: String(type) };
  const id = source.id ?? source.server_id;
  if (typeof id !== 'string' || !idPattern.test(id)) {
    return wrong('has no usable "id"', 'Write id: with 1 to 64 letters, digits, ".", "_" or "-".');
  }
  // Parsed again with every scalar as written, because `007` must not become 7.
  const asWritten: unknown = parseDocument(text, { prettyErrors: false, schema: 'failsafe' }).toJS();
  const transport = transportOf(source, isJsonObject(asWritten) ? asWritten : {});
  if (transport === undefined)
    return wrong('has no "transport"', 'Write transport: with a command, a url or a builtin.');
  const digest = createHash('sha256').update(text).digest('hex');
  const server = { ...shapeOf(source, id), metadata: metadataOf(source, id, file, digest), transport };
  const fallback = fallbacksOf(source, isJsonObject(asWritten) ? asWritten : {});
  return { kind: 'server', id, text: `${JSON.stringify(sorted({ ...server, fallback }), undefined, 2)}\n` };
}

/** Whether `qm sync` created the file. */
export function isEmitted(text: string): boolean {
  return metadataIn(text) !== undefined;
}

/** The file it was made from; undefined if it names none, or one outside the source folder. */
export function emittedFrom(text: string): string | undefined {
  const source = metadataIn(text)?.source;
  return typeof source === 'string' && /^ops\/adk\/servers\/[^/]+$/.test(source) ? source : undefined;
}

function metadataIn(text: string): Record<string, unknown> | undefined {
  try {
    const parsed: unknown = JSON.parse(text);
    const metadata = isJsonObject(parsed) ? parsed.metadata : undefined;
    return isJsonObject(metadata) && typeof metadata.source_digest === 'string' ? metadata : undefined;
  } catch {
    return undefined;
  }
}

const idPattern = /^(?!__proto__$)(?!\.{1,2}$)[A-Za-z0-9._-]{1,64}$/;
const transportTypes = ['stdio', 'local', 'http', 'streamable-http', 'sse', 'builtin'];
const transportKeys = ['type', 'builtin', 'command', 'args', 'env', 'cwd', 'url', 'headers'];
const permissionKeys = ['scope', 'tools', 'write_requires_approval'];
/** Keys that the emitted shape holds elsewhere or computes. */
const movedKeys = [...transportKeys, 'id', 'server_id', 'transport', 'fallback', 'metadata', 'scopes', 'title', 'tags'];

function wrong(message: string, fix: string): Emitted {
  return { kind: 'wrong', message, fix };
}

function isTransportType(type: unknown): boolean {
  return typeof type === 'string' && transportTypes.includes(type);
}

function shapeOf(source: Record<string, unknown>, id: string): Record<string, unknown> {
  const rest = Object.fromEntries(Object.entries(source).filter(([key]) => !movedKeys.includes(key)));
  const permissions = isJsonObject(source.permissions) ? source.permissions : {};
  const scopes = source.scopes ?? permissions.scope ?? [];
  const known = Object.fromEntries(Object.entries(permissions).filter(([key]) => permissionKeys.includes(key)));
  const extra = Object.fromEntries(Object.entries(permissions).filter(([key]) => !permissionKeys.includes(key)));
  return {
    description: null,
    limits: {},
    notes: null,
    options: {},
    version: null,
    ...rest,
    id,
    server_id: id,
    type: 'mcp',
    scopes,
    // An empty map sets no rule for tools; an empty list would mean none of them.
    permissions: { tools: {}, ...known, scope: scopes, extra },
  };
}

function metadataOf(
  source: Record<string, unknown>,
  id: string,
  file: string,
  digest: string,
): Record<string, unknown> {
  return {
    registry_source: file.slice(0, Math.max(0, file.lastIndexOf('/'))),
    source: file,
    source_digest: digest,
    tags: source.tags ?? [],
    title: source.title ?? id,
  };
}

/** The first generation has command and arguments beside the id. */
function transportOf(source: Record<string, unknown>, asWritten: Record<string, unknown>): unknown {
  if (isJsonObject(source.transport)) {
    return oneTransport(source.transport, isJsonObject(asWritten.transport) ? asWritten.transport : {});
  }
  if ([source.command, source.url, source.builtin].every((way) => way === undefined)) return undefined;
  const flat = Object.fromEntries(
    transportKeys.filter((key) => key !== 'type' || source.type !== 'mcp').map((key) => [key, source[key]]),
  );
  return oneTransport(flat, asWritten);
}

function fallbacksOf(source: Record<string, unknown>, asWritten: Record<string, unknown>): unknown[] {
  const written: readonly unknown[] = Array.isArray(asWritten.fallback) ? asWritten.fallback : [];
  const list: readonly unknown[] = Array.isArray(source.fallback) ? source.fallback : [];
  return list.map((each, index) => {
    const own = written[index];
    return isJsonObject(each) ? oneTransport(each, isJsonObject(own) ? own : {}) : each;
  });
}

function oneTransport(source: Record<string, unknown>, asWritten: Record<string, unknown>): Record<string, unknown> {
  const present = Object.entries(source).filter(([, value]) => value !== null && value !== undefined);
  const texts = present.map(([key, value]) => [key, transportKeys.includes(key) ? asWritten[key] : value] as const);
  const type = source.type ?? typeOf(source);
  const empty = { args: [], command: null, env: {}, headers: {}, url: null };
  return { ...empty, ...Object.fromEntries(texts), type };
}

function typeOf({ builtin, command }: Record<string, unknown>): string {
  if (typeof builtin === 'string') return 'builtin';
  return command === undefined || command === null ? 'http' : 'stdio';
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isJsonObject(value)) return value;
  const keys = Object.keys(value).sort();
  return Object.fromEntries(keys.map((key) => [key, sorted(value[key])]));
}
