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
  /** Node answers it. */
  expect: string | undefined;
}

/** What comes twice is read in Node's way: it knows which headers may be joined. */
export function readHeaders(
  request: IncomingMessage,
  sorted: (request: IncomingMessage) => IncomingMessage['headers'] = headersOf,
): KnownHeaders {
  const { rawHeaders } = request;
  const values: (string | undefined)[] = [];
  for (let place = 0; place < knownNames.length; place++) values.push(undefined);
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const place = placeOf(rawHeaders[at] as string); // names stand at even places
    if (place < 0) continue;
    if (values[place] !== undefined) return repeatedHeaders(request, sorted);
    values[place] = rawHeaders[at + 1];
  }
  return knownHeaders(values);
}

/** Node takes the first `Host`, but a proxy may have meant another one. So the result has all of them. */
function repeatedHeaders(
  request: IncomingMessage,
  sorted: (request: IncomingMessage) => IncomingMessage['headers'],
): KnownHeaders {
  const { rawHeaders } = request;
  const known = knownHeaders(knownNames.map((name) => firstOf(sorted(request)[name])));
  const hosts = rawHeaders.filter((_, at) => at % 2 === 1 && rawHeaders[at - 1]?.toLowerCase() === 'host');
  return { ...known, host: hosts.length > 1 ? hosts.join(', ') : known.host };
}

const knownNames = [
  'host',
  'origin',
  'authorization',
  'accept',
  'content-type',
  'content-length',
  'mcp-session-id',
  'mcp-protocol-version',
  'last-event-id',
  'mcp-method',
  'mcp-name',
  'x-quartermaster-run',
  'traceparent',
  'tracestate',
  'expect',
] as const satisfies readonly (keyof KnownHeaders)[];

/** Values in the order of the names. A literal and not a loop: members that are set by a computed name cost several times as much. */
function knownHeaders(values: readonly (string | undefined)[]): KnownHeaders {
  return {
    host: values[0],
    origin: values[1],
    authorization: values[2],
    accept: values[3],
    'content-type': values[4],
    'content-length': values[5],
    'mcp-session-id': values[6],
    'mcp-protocol-version': values[7],
    'last-event-id': values[8],
    'mcp-method': values[9],
    'mcp-name': values[10],
    'x-quartermaster-run': values[11],
    traceparent: values[12],
    tracestate: values[13],
    expect: values[14],
  };
}

/** By length, so that most names need no comparison and none a hash: the parser makes every one of them anew. */
const placesOfLength: readonly (readonly number[])[] = Array.from({ length: 24 }, (_, length) =>
  knownNames.flatMap((name, place) => (name.length === length ? [place] : [])),
);

/** Less than 0 for a header that nobody here reads. */
function placeOf(name: string): number {
  const candidates = placesOfLength[name.length];
  if (candidates === undefined || candidates.length === 0) return -1;
  for (const place of candidates) if (knownNames[place] === name) return place;
  const lower = name.toLowerCase();
  for (const place of candidates) if (knownNames[place] === lower) return place;
  return -1;
}

function headersOf({ headers }: IncomingMessage): IncomingMessage['headers'] {
  return headers;
}

function firstOf(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value;
}
