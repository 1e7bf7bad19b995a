import { createServer, type IncomingMessage, type Server, type ServerOptions, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  type Clock,
  descriptorLimit,
  HubError,
  type Logger,
  type RandomBytes,
  type Timer,
  toHubError,
} from '../../base/index.ts';
import type { TokenBook } from '../../governance/index.ts';
import type { Hub } from '../../hub/index.ts';
import {
  createGuard,
  createMcpEndpoint,
  createReception,
  isPreflight,
  LeanRequest,
  metadataPaths,
  type PlainRequest,
  pickRequest,
  refuse,
  resourceMetadata,
  sendJson,
  sendPreflight,
  sendRefusal,
  sendStatus,
  shareWith,
} from '../mcp-http/index.ts';
import { createSseEndpoint } from '../mcp-sse/index.ts';
import { type ConnectionLimits, connectionLimits } from './connection-limits.ts';
import { trackConnections } from './connections.ts';

/** One port for everything: `/mcp` and, for old clients, `/sse` for agents, `/api` for operators, `/healthz` for whoever watches. */
export interface Gateway {
  readonly url: string;
  /** Of both addresses for agents. */
  readonly clientSessions: number;
  /** Takes no new connections, lets answers under way leave, then closes. */
  close(): Promise<void>;
}

export interface GatewayDeps {
  readonly hub: Hub;
  readonly tokens: TokenBook;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly random: RandomBytes;
  /** Answers `/api/…`; loaded by the caller when first needed. */
  readonly api: (request: IncomingMessage, response: ServerResponse) => void;
  /** Answers `/metrics`. */
  readonly metrics: (request: IncomingMessage, response: ServerResponse) => void;
}

export interface GatewayOptions {
  readonly host: string;
  readonly port: number;
  readonly timeouts?: Partial<GatewayTimeouts>;
  /** Unless given, what the process may open decides. */
  readonly limits?: ConnectionLimits;
}

/** How long a client may take, in milliseconds. */
export interface GatewayTimeouts {
  readonly headers: number;
  /** From the first byte of a request to its last. */
  readonly request: number;
  /** A connection on which nothing is under way. */
  readonly keepAlive: number;
  /** A connection whose requests come without a valid token. */
  readonly unproved: number;
  /** For answers to leave once the hub is closing. */
  readonly close: number;
}

const patience: GatewayTimeouts = {
  headers: 10_000,
  request: 30_000,
  keepAlive: 65_000,
  unproved: 30_000,
  close: 12_000,
};

export async function openGateway(deps: GatewayDeps, options: GatewayOptions): Promise<Gateway> {
  const { hub, logger } = deps;
  const timeouts = { ...patience, ...options.timeouts };
  let closing = false;
  let closed: Promise<void> | undefined;
  // What is no HTTP, too large or too slow is answered by Node itself: 400, 431, 408, then the connection is closed.
  const Request = await pickRequest(deps.clock);
  if (Request !== LeanRequest) logger.warn('gateway_plain_requests', { node: process.version });
  const server = createServer({ ...serverOptions(timeouts), IncomingMessage: Request }, (request, response) => {
    try {
      route(request, response);
    } catch (error) {
      // A defect in handling one request is the end of that request.
      refuse(response, error, 'null', logger);
    }
  });
  const connections = trackConnections(server, deps, {
    limits: options.limits ?? connectionLimits(descriptorLimit()),
    unprovedMs: timeouts.unproved,
  });
  const reception = createReception({ ...deps, connections });
  const mcp = createMcpEndpoint({ ...deps, reception });
  const sse = createSseEndpoint({ ...deps, reception });
  let guard = createGuard({ host: options.host, ...hub.fleet.serve });
  const forgetReload = hub.onReload(() => {
    guard = createGuard({ host: options.host, ...hub.fleet.serve });
  });

  function route(request: PlainRequest, response: ServerResponse): void {
    const headers = request.arrive();
    connections.begin(request.socket, response);
    try {
      guard.check(headers);
    } catch (error) {
      connections.unprove(request.socket);
      sendRefusal(response, toHubError(error));
      return;
    }
    // The answer is the last on its connection, so that closing waits for nobody.
    if (closing) response.shouldKeepAlive = false;
    const path = pathOf(request.url);
    if (headers.origin !== undefined && forPages.has(path)) {
      shareWith(headers.origin, response);
      if (isPreflight(request)) {
        connections.unprove(request.socket);
        sendPreflight(request, response);
        return;
      }
    }
    if (path === '/mcp') mcp.handle(request, response, headers);
    else if (path === '/sse') sse.listen(request, response, headers);
    else if (path === '/messages') sse.post(request, response, headers);
    else if (path === '/metrics') forOperator(deps.metrics, request, response);
    else if (path.startsWith('/api/')) forOperator(deps.api, request, response);
    else forEverybody(request, response, path);
  }

  /** Whether the admin token came with it shows in the answer. */
  function forOperator(answer: GatewayDeps['api'], request: PlainRequest, response: ServerResponse): void {
    const { socket } = request;
    connections.unprove(socket);
    response.once('finish', () => {
      if (response.statusCode < 400) connections.prove(socket, operator);
    });
    answer(request, response);
  }

  function forEverybody(request: PlainRequest, response: ServerResponse, path: string): void {
    connections.unprove(request.socket);
    if (path === '/healthz') plain(response, 200, 'ok\n');
    else if (path === '/readyz') readiness(response);
    else if (metadataPaths.includes(path)) metadata(request, response, path);
    else plain(response, 404, notFound);
  }

  function readiness(response: ServerResponse): void {
    if (closing) plain(response, 503, 'closing\n');
    else if (hub.ledger.health !== 'good') plain(response, 503, 'calls are refused: they cannot be recorded\n');
    else plain(response, 200, 'ok\n');
  }

  async function shutDown(): Promise<void> {
    closing = true;
    forgetReload();
    mcp.close();
    sse.close();
    reception.close();
    connections.close();
    await closeServer(server, connections.closeUnused, deps.clock, timeouts.close);
  }

  await listen(server, options);
  server.on('error', (error) => logger.error('gateway_error', { error: error.message }));
  const { address, port, family } = server.address() as AddressInfo; // a TCP server has one
  return {
    url: `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`,
    get clientSessions() {
      return mcp.clientSessions + sse.clientSessions;
    },
    close() {
      closed ??= shutDown();
      return closed;
    },
  };
}

/** Clients whose token is refused look for a login, and show what they get instead to whoever uses them. */
const notFound =
  'Not found. Agents connect to /mcp, old clients to /sse, with a token, which an operator issues with `qm token issue --agent NAME`; ' +
  'there is no login.\n';

/** What pages of other origins may read. The API is for the hub's own. */
const forPages: ReadonlySet<string> = new Set(['/mcp', '/sse', '/messages', ...metadataPaths]);

function metadata({ method, headers }: IncomingMessage, response: ServerResponse, path: string): void {
  if (method !== 'GET' && method !== 'HEAD') sendStatus(response, 405, ['allow', 'GET, HEAD']);
  // The guard wants a Host.
  else sendJson(response, 200, resourceMetadata(headers.host ?? '', path), ['vary', 'Origin']);
}

/** Owns the connections on which the admin token came; no token of an agent has this id. */
const operator = 'operator:';

/** What a client may cost before it has said anything useful. */
function serverOptions(timeouts: GatewayTimeouts): ServerOptions {
  return {
    maxHeaderSize: 16 * 1024,
    headersTimeout: timeouts.headers,
    requestTimeout: timeouts.request,
    keepAliveTimeout: timeouts.keepAlive,
    connectionsCheckingInterval: Math.min(5000, timeouts.headers / 2),
  };
}

function listen(server: Server, { host, port }: GatewayOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(cannotListen(error, host, port)));
    server.listen({ host, port, backlog: 1024 }, () => {
      server.removeAllListeners('error');
      resolve();
    });
  });
}

/** Connections close as they fall idle; what is still under way after the grace is cut. */
function closeServer(server: Server, closeUnused: () => void, clock: Clock, graceMs: number): Promise<void> {
  return new Promise((resolve) => {
    const until = clock.monotonic() + graceMs;
    let timer: Timer | undefined;
    function sweep(): void {
      if (clock.monotonic() < until) server.closeIdleConnections();
      else server.closeAllConnections();
      timer = clock.setTimer(sweepMs, sweep);
    }
    server.close(() => {
      timer?.cancel();
      resolve();
    });
    closeUnused();
    sweep();
  });
}

const sweepMs = 50;

function cannotListen(error: NodeJS.ErrnoException, host: string, port: number): HubError {
  const busy = error.code === 'EADDRINUSE';
  return new HubError('USAGE', `Cannot listen on ${host}:${port}: ${busy ? 'the port is taken' : error.message}.`, {
    cause: error,
    hint: busy ? 'Stop the other process, or take a free port with --port 0.' : 'Choose another --host or --port.',
  });
}

function pathOf(url: string | undefined): string {
  const query = url?.indexOf('?') ?? -1;
  return query < 0 ? (url ?? '/') : (url as string).slice(0, query); // a query was found in it
}

function plain(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8', 'content-length': text.length }).end(text);
}
