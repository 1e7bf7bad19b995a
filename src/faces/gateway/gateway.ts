import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Clock, descriptorLimit, type Logger, type RandomBytes } from '../../base/index.ts';
import type { TokenBook } from '../../governance/index.ts';
import type { Hub } from '../../hub/index.ts';
import { Authenticator, type ByteLimits, LeanRequest, McpEndpoint, pickRequest } from '../mcp-http/index.ts';
import { SseEndpoint } from '../mcp-sse/index.ts';
import { ClientSockets } from './client-sockets.ts';
import { type ConnectionLimits, connectionLimits } from './connection-limits.ts';
import { closeServer, defaultTimeouts, type GatewayTimeouts, listenOn, serverOptions } from './http-server.ts';
import { oneAtATime, type RequestHandler } from './request-queue.ts';
import { type OperatorHandler, Routes } from './routes.ts';

/**
 * One port for everything: `/mcp` and, for old clients, `/sse` for agents, `/api` for operators, `/approvals` for people
 * who decide on held calls, `/healthz` for monitors.
 */
export interface Gateway {
  readonly url: string;
  /** Open client sessions over `/mcp` and `/sse`. */
  readonly clientSessions: number;
  /** Takes no new connections, waits for responses in progress, then closes. */
  close(): Promise<void>;
}

export interface GatewayDeps {
  readonly hub: Hub;
  readonly tokens: TokenBook;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly random: RandomBytes;
  /** Answers `/api/…`; loaded by the caller when first needed. */
  readonly api: OperatorHandler;
  /** Answers `/metrics`. */
  readonly metrics: OperatorHandler;
  /** Answers `/approvals/…`. */
  readonly approvalPage: OperatorHandler;
}

export interface GatewayOptions {
  readonly host: string;
  readonly port: number;
  readonly timeouts?: Partial<GatewayTimeouts>;
  /** By default they follow from the number of files the process may open. */
  readonly limits?: ConnectionLimits;
  /** How much the hub holds for the clients of an agent. */
  readonly byteLimits?: ByteLimits;
}

export async function openGateway(deps: GatewayDeps, options: GatewayOptions): Promise<Gateway> {
  const { clock, logger } = deps;
  const timeouts = { ...defaultTimeouts, ...options.timeouts };
  const Request = await pickRequest(clock);
  if (Request !== LeanRequest) logger.warn('gateway.lean-requests-disabled', { node: process.version });
  // Node itself answers a request that is not HTTP, too large or too slow (400, 431, 408) and closes the connection.
  const server = createServer({ ...serverOptions(timeouts), IncomingMessage: Request });
  const connections = new ClientSockets(server, deps, {
    limits: options.limits ?? connectionLimits(descriptorLimit()),
    unauthenticatedMs: timeouts.unauthenticated,
  });
  const authenticator = new Authenticator({ ...deps, connections, byteLimits: options.byteLimits });
  const mcp = new McpEndpoint({ ...deps, authenticator });
  const sse = new SseEndpoint({ ...deps, authenticator });
  const routes = new Routes({ ...deps, connections, mcp, sse }, options.host);
  const handle: RequestHandler = (request, response) => routes.handle(request, response);
  server.on('request', oneAtATime(handle));
  let closed: Promise<void> | undefined;

  async function close(): Promise<void> {
    routes.close();
    mcp.close();
    sse.close();
    authenticator.close();
    connections.close();
    const closeUnused = (): void => connections.closeUnused();
    await closeServer(server, { clock, graceMs: timeouts.close, closeUnused });
  }

  await listenOn(server, options);
  server.on('error', (error) => logger.error('gateway.failed', { error: error.message }));
  const { address, port, family } = server.address() as AddressInfo; // a TCP server has one
  return {
    url: `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`,
    get clientSessions() {
      return mcp.clientSessions + sse.clientSessions;
    },
    close: () => (closed ??= close()),
  };
}
