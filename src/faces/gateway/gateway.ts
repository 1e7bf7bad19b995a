import { createServer, type IncomingMessage, type Server, type ServerOptions, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { type Clock, HubError, type Logger, type RandomBytes, type Timer, toHubError } from '../../base/index.ts';
import type { TokenBook } from '../../governance/index.ts';
import type { Hub } from '../../hub/index.ts';
import {
  createGuard,
  createMcpEndpoint,
  createReception,
  isPreflight,
  LeanRequest,
  metadataPaths,
  resourceMetadata,
  sendJson,
  sendPreflight,
  sendRefusal,
  sendStatus,
  shareWith,
} from '../mcp-http/index.ts';
import { createSseEndpoint } from '../mcp-sse/index.ts';

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
}

/** How long a client may take, in milliseconds. */
export interface GatewayTimeouts {
  readonly headers: number;
  /** From the first byte of a request to its last. */
  readonly request: number;
  /** A connection on which nothing is under way. */
  readonly keepAlive: number;
  /** For answers to leave once the hub is closing. */
  readonly close: number;
}

const patience: GatewayTimeouts = { headers: 10_000, request: 30_000, keepAlive: 65_000, close: 12_000 };

export async function openGateway(deps: GatewayDeps, options: GatewayOptions): Promise<Gateway> {
  const { hub, logger } = deps;
  const timeouts = { ...patience, ...options.timeouts };
  let closing = false;
  let closed: Promise<void> | undefined;
  const reception = createReception(deps);
  const mcp = createMcpEndpoint({ ...deps, reception });
  const sse = createSseEndpoint({ ...deps, reception });
  let guard = createGuard({ host: options.host, ...hub.fleet.serve });
  const forgetReload = hub.onReload(() => {
    guard = createGuard({ host: options.host, ...hub.fleet.serve });
  });

  function route(request: LeanRequest, response: ServerResponse): void {
    const headers = request.arrive();
    try {
      guard.check(headers);
    } catch (error) {
      sendRefusal(response, toHubError(error));
      return;
    }
    // The answer is the last on its connection, so that closing waits for nobody.
    if (closing) response.shouldKeepAlive = false;
    const path = pathOf(request.url);
    if (headers.origin !== undefined && forPages.has(path)) {
      shareWith(headers.origin, response);
      if (isPreflight(request)) {
        sendPreflight(request, response);
        return;
      }
    }
    if (path === '/mcp') mcp.handle(request, response, headers);
    else if (path === '/sse') sse.listen(request, response, headers);
    else if (path === '/messages') sse.post(request, response, headers);
    else if (path === '/healthz') plain(response, 200, 'ok\n');
    else if (path === '/readyz') readiness(response);
    else if (path === '/metrics') deps.metrics(request, response);
    else if (path.startsWith('/api/')) deps.api(request, response);
    else if (metadataPaths.includes(path)) metadata(request, response, path);
    else plain(response, 404, notFound);
  }

  function readiness(response: ServerResponse): void {
    if (closing) plain(response, 503, 'closing\n');
    else plain(response, 200, 'ok\n');
  }

  async function shutDown(): Promise<void> {
    closing = true;
    forgetReload();
    mcp.close();
    sse.close();
    reception.close();
    await closeServer(server, closeUnused, deps.clock, timeouts.close);
  }

  // What is no HTTP, too large or too slow is answered by Node itself: 400, 431, 408, then the connection is closed.
  const server = createServer(serverOptions(timeouts), route);
  const closeUnused = watchUnused(server);
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

/** What a client may cost before it has said anything useful. */
function serverOptions(timeouts: GatewayTimeouts): ServerOptions<typeof LeanRequest> {
  return {
    IncomingMessage: LeanRequest,
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

/** Some clients connect in advance. Node takes a connection on which nothing was said for a busy one. */
function watchUnused(server: Server): () => void {
  const open = new Set<Socket>();
  server.on('connection', (socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
  });
  return () => {
    for (const socket of open) if (socket.bytesRead === 0) socket.destroy();
  };
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
