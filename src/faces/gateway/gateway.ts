import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { type Clock, HubError, type Logger, type RandomBytes, toHubError } from '../../base/index.ts';
import type { TokenBook } from '../../governance/index.ts';
import type { Hub } from '../../hub/index.ts';
import { createGuard, createMcpEndpoint, type McpEndpoint, sendRefusal } from '../mcp-http/index.ts';

/** One port for everything: `/mcp` for agents, `/api` for operators, `/healthz` for whoever watches. */
export interface Gateway {
  readonly url: string;
  readonly mcp: McpEndpoint;
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
}

export interface GatewayOptions {
  readonly host: string;
  readonly port: number;
}

export async function openGateway(deps: GatewayDeps, options: GatewayOptions): Promise<Gateway> {
  const { hub, logger } = deps;
  const mcp = createMcpEndpoint(deps);
  let guard = createGuard({ host: options.host, ...hub.fleet.serve });
  const forgetReload = hub.onReload(() => {
    guard = createGuard({ host: options.host, ...hub.fleet.serve });
  });

  function route(request: IncomingMessage, response: ServerResponse): void {
    try {
      guard.check(request);
    } catch (error) {
      sendRefusal(response, toHubError(error));
      return;
    }
    const path = pathOf(request.url);
    if (path === '/mcp') mcp.handle(request, response);
    else if (path === '/healthz') plain(response, 200, 'ok\n');
    else if (path.startsWith('/api/')) deps.api(request, response);
    else plain(response, 404, 'Not found. Agents connect to /mcp.\n');
  }

  const server = createServer(limits, route);
  server.maxHeadersCount = 100;
  server.on('clientError', refuseMalformed);
  await listen(server, options);
  server.on('error', (error) => logger.error('gateway_error', { error: error.message }));
  const { address, port, family } = server.address() as AddressInfo; // a TCP server has one
  return {
    url: `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`,
    mcp,
    async close() {
      forgetReload();
      mcp.close();
      await closeServer(server, deps.clock);
    },
  };
}

/** What a client may cost before it has said anything useful. */
const limits = {
  maxHeaderSize: 16 * 1024,
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  keepAliveTimeout: 65_000,
  connectionsCheckingInterval: 5_000,
};

/** How long answers under way may take to leave once the hub is closing. */
const closeGraceMs = 2000;

function listen(server: Server, { host, port }: GatewayOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(cannotListen(error, host, port)));
    server.listen({ host, port, backlog: 1024 }, () => {
      server.removeAllListeners('error');
      resolve();
    });
  });
}

function closeServer(server: Server, clock: Clock): Promise<void> {
  return new Promise((resolve) => {
    const timer = clock.setTimer(closeGraceMs, () => server.closeAllConnections());
    server.close(() => {
      timer.cancel();
      resolve();
    });
    server.closeIdleConnections();
  });
}

function refuseMalformed(error: NodeJS.ErrnoException, socket: Socket): void {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const status =
    error.code === 'HPE_HEADER_OVERFLOW'
      ? '431 Request Header Fields Too Large'
      : error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
        ? '408 Request Timeout'
        : '400 Bad Request';
  socket.end(`HTTP/1.1 ${status}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`);
}

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
