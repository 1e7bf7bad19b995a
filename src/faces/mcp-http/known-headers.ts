import type { IncomingMessage } from 'node:http';

/** The headers that the hub itself reads. */
export interface KnownHeaders {
  host: string | undefined;
  origin: string | undefined;
  authorization: string | undefined;
  accept: string | undefined;
  'content-type': string | undefined;
  'content-length': string | undefined;
  'mcp-session-id': string | undefined;
  'mcp-protocol-version': string | undefined;
  'mcp-method': string | undefined;
  'mcp-name': string | undefined;
  'x-quartermaster-run': string | undefined;
}

type KnownName = keyof KnownHeaders;

/**
 * Node's own `request.headers` sorts every header into a new object, which costs more than authenticating the caller.
 * What comes twice is read its way: it knows which headers may be joined.
 */
export function readHeaders(request: IncomingMessage): KnownHeaders {
  const { rawHeaders } = request;
  const headers = noHeaders();
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = knownName(rawHeaders[at] as string); // names stand at even places
    if (name === undefined) continue;
    if (headers[name] !== undefined) return fromNode(request);
    headers[name] = rawHeaders[at + 1];
  }
  return headers;
}

function fromNode(request: IncomingMessage): KnownHeaders {
  const headers = noHeaders();
  for (const name of knownNames) {
    const value = request.headers[name];
    headers[name] = Array.isArray(value) ? value[0] : value;
  }
  return headers;
}

function noHeaders(): KnownHeaders {
  return {
    host: undefined,
    origin: undefined,
    authorization: undefined,
    accept: undefined,
    'content-type': undefined,
    'content-length': undefined,
    'mcp-session-id': undefined,
    'mcp-protocol-version': undefined,
    'mcp-method': undefined,
    'mcp-name': undefined,
    'x-quartermaster-run': undefined,
  };
}

const knownNames = Object.keys(noHeaders()) as readonly KnownName[]; // the literal has these and no others

/** The two ways in which nearly everybody writes a name; another one is put into lower case. */
const spellings: ReadonlyMap<string, KnownName> = new Map(
  knownNames.flatMap((name): [string, KnownName][] => [
    [name, name],
    [name.replace(/(?:^|-)[a-z]/g, (start) => start.toUpperCase()), name],
  ]),
);

const lengths: ReadonlySet<number> = new Set(knownNames.map((name) => name.length));

function knownName(name: string): KnownName | undefined {
  return spellings.get(name) ?? (lengths.has(name.length) ? spellings.get(name.toLowerCase()) : undefined);
}
