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
  'last-event-id': string | undefined;
  'mcp-method': string | undefined;
  'mcp-name': string | undefined;
  'x-quartermaster-run': string | undefined;
  traceparent: string | undefined;
  tracestate: string | undefined;
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
    'last-event-id': undefined,
    'mcp-method': undefined,
    'mcp-name': undefined,
    'x-quartermaster-run': undefined,
    traceparent: undefined,
    tracestate: undefined,
  };
}

const knownNames = Object.keys(noHeaders()) as readonly KnownName[]; // the literal has these and no others

/** By length, so that most names need no comparison and none a hash: the parser makes every one of them anew. */
const namesOfLength: readonly (readonly KnownName[] | undefined)[] = Array.from({ length: 24 }, (_, length) => {
  const names = knownNames.filter((name) => name.length === length);
  return names.length === 0 ? undefined : names;
});

function knownName(name: string): KnownName | undefined {
  const candidates = namesOfLength[name.length];
  if (candidates === undefined) return undefined;
  for (const known of candidates) if (known === name) return known;
  const lower = name.toLowerCase();
  for (const known of candidates) if (known === lower) return known;
  return undefined;
}
