import type { IncomingMessage, ServerResponse } from 'node:http';

/**
 * Lets a page read the answer; only for origins that the guard let through. Answers are for that origin alone and never
 * for cookies: a page sends its token like every other client.
 */
export function shareWith(origin: string, response: ServerResponse): void {
  // Kept on the response, so that whoever answers, a stream or a refusal, need not know of it.
  response.setHeader('access-control-allow-origin', origin);
  response.setHeader('access-control-expose-headers', 'Mcp-Session-Id, WWW-Authenticate');
  response.setHeader('vary', 'Origin');
}

/** The question of a browser, without a token, whether a page may ask at all. */
export function isPreflight({ method, headers }: IncomingMessage): boolean {
  return method === 'OPTIONS' && headers['access-control-request-method'] !== undefined;
}

export function sendPreflight({ headers }: IncomingMessage, response: ServerResponse): void {
  const allowed = [...knownHeaders, ...mirroredArguments(headers['access-control-request-headers'])];
  response.writeHead(204, [
    'access-control-allow-methods',
    'GET, POST, DELETE',
    'access-control-allow-headers',
    allowed.join(', '),
    'access-control-max-age',
    maxAgeSeconds,
  ]);
  response.end();
}

/** As long as browsers are willing to remember; each request is checked by itself anyway. */
const maxAgeSeconds = '7200';

const knownHeaders: readonly string[] = [
  'authorization',
  'content-type',
  'accept',
  'mcp-session-id',
  'mcp-protocol-version',
  'mcp-method',
  'mcp-name',
  'last-event-id',
  'x-quartermaster-run',
  'traceparent',
  'tracestate',
];

/** Their names belong to the tools, so the page says which it means. */
function mirroredArguments(asked: string | undefined): string[] {
  const names = (asked ?? '').split(',').map((name) => name.trim().toLowerCase());
  return names.filter((name) => /^mcp-param-[\w!#$%&'*+.^`|~-]+$/.test(name));
}
