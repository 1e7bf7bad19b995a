import type { IncomingMessage, ServerResponse } from 'node:http';
import { metadataPaths, resourceMetadata, sendJson, sendStatus } from '../mcp-http/index.ts';

/** Whether the hub takes calls now. */
export type Readiness = 'ready' | 'closing' | 'unrecorded';

/** Answers the paths that need no token: health, readiness and the metadata of the protected resource. */
export function answerPublic(
  request: IncomingMessage,
  response: ServerResponse,
  path: string,
  readiness: () => Readiness,
): void {
  if (path === '/healthz') sendText(response, 200, 'ok\n');
  else if (path === '/readyz') sendReadiness(response, readiness());
  else if (metadataPaths.includes(path)) sendMetadata(request, response, path);
  else sendText(response, 404, notFound);
}

/** A client whose token is refused looks for a login, and shows its user what it gets instead. */
const notFound =
  'Not found. Agents connect to /mcp, old clients to /sse, with a token, which an operator issues with `qm token issue --agent NAME`; ' +
  'there is no login.\n';

function sendReadiness(response: ServerResponse, readiness: Readiness): void {
  if (readiness === 'closing') sendText(response, 503, 'closing\n');
  else if (readiness === 'unrecorded') sendText(response, 503, 'calls are refused: they cannot be recorded\n');
  else sendText(response, 200, 'ok\n');
}

function sendMetadata({ method, headers }: IncomingMessage, response: ServerResponse, path: string): void {
  if (method !== 'GET' && method !== 'HEAD') sendStatus(response, 405, ['allow', 'GET, HEAD']);
  // The guard has made sure that there is a Host.
  else sendJson(response, 200, resourceMetadata(headers.host ?? '', path), ['vary', 'Origin']);
}

function sendText(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8', 'content-length': text.length }).end(text);
}
