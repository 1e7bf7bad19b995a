import type { IncomingMessage, ServerResponse } from 'node:http';
import { contain, type Logger, toHubError } from '../../base/index.ts';
import type { Hub } from '../../hub/index.ts';
import {
  createGuard,
  type Guard,
  isPreflight,
  type KnownHeaders,
  type McpEndpoint,
  metadataPaths,
  type PlainRequest,
  refuseRequest,
  sendPreflight,
  sendRefusal,
  shareWith,
} from '../mcp-http/index.ts';
import type { SseEndpoint } from '../mcp-sse/index.ts';
import type { ClientSockets } from './client-sockets.ts';
import { answerPublic, type Readiness } from './public-routes.ts';

/** Call `authenticated` before a long response: the request has the admin token, so the connection may stay. It may throw OVERLOADED. */
export type OperatorHandler = (request: IncomingMessage, response: ServerResponse, authenticated: () => void) => void;

export interface RoutesDeps {
  readonly hub: Hub;
  readonly logger: Logger;
  readonly connections: ClientSockets;
  readonly mcp: McpEndpoint;
  readonly sse: SseEndpoint;
  /** Answers `/api/…`. */
  readonly api: OperatorHandler;
  /** Answers `/metrics`. */
  readonly metrics: OperatorHandler;
  /** Answers `/approvals/…`. */
  readonly approvalPage: OperatorHandler;
}

/** Checks each request against the guard and hands it to the endpoint of its path. */
export class Routes {
  readonly #deps: RoutesDeps;
  readonly #host: string;
  readonly #stopReloads: () => void;
  #guard: Guard;
  #closing = false;

  constructor(deps: RoutesDeps, host: string) {
    this.#deps = deps;
    this.#host = host;
    this.#guard = this.#newGuard();
    this.#stopReloads = deps.hub.onReload(() => {
      this.#guard = this.#newGuard();
    });
  }

  /** Never throws: a defect ends the one request that met it. */
  handle(request: PlainRequest, response: ServerResponse): void {
    try {
      this.#route(request, response);
    } catch (error) {
      refuseRequest(response, error, 'null', this.#deps.logger);
    }
  }

  /** From now on each response is the last on its connection, so that closing waits for no client. */
  close(): void {
    this.#closing = true;
    this.#stopReloads();
  }

  #newGuard(): Guard {
    const { allowedHosts, allowedOrigins, publicUrl } = this.#deps.hub.configuration.serve;
    const own = publicUrl === undefined ? [] : [new URL(publicUrl).hostname];
    return createGuard({ host: this.#host, allowedHosts: [...allowedHosts, ...own], allowedOrigins });
  }

  #route(request: PlainRequest, response: ServerResponse): void {
    const { connections, mcp, sse, api, metrics, approvalPage } = this.#deps;
    const headers = request.arrive();
    connections.begin(request.socket, response);
    const path = pathOf(request.url);
    const isPage = path.startsWith('/approvals/');
    try {
      // The hub's own page sends its forms from wherever it was opened; the guard knows that host.
      this.#guard.check(isPage && isOwnOrigin(headers) ? { host: headers.host, origin: undefined } : headers);
    } catch (error) {
      connections.markUnauthenticated(request.socket);
      sendRefusal(response, toHubError(error));
      return;
    }
    if (this.#closing) response.shouldKeepAlive = false;
    if (headers.origin !== undefined && forPages.has(path)) {
      shareWith(headers.origin, response);
      if (isPreflight(request)) {
        connections.markUnauthenticated(request.socket);
        sendPreflight(request, response);
        return;
      }
    }
    if (path === '/mcp') mcp.handle(request, response, headers);
    else if (path === '/sse') sse.listen(request, response, headers);
    else if (path === '/messages') sse.post(request, response, headers);
    else if (path === '/metrics') this.#forOperator(metrics, request, response);
    else if (path.startsWith('/api/')) this.#forOperator(api, request, response);
    else if (isPage) this.#forOperator(approvalPage, request, response);
    else this.#forEverybody(request, response, path);
  }

  /** The status of the response shows whether the admin token, or the secret of the page, came with the request. */
  #forOperator(answer: OperatorHandler, request: PlainRequest, response: ServerResponse): void {
    const { connections, logger } = this.#deps;
    const { socket } = request;
    connections.markUnauthenticated(socket);
    const authenticated = (): void => connections.markAuthenticated(socket, operator);
    response.once('finish', () => {
      // A connection over the limit stays among those without a token, and makes room for others.
      if (response.statusCode < 400) contain(logger, 'gateway.connection-refused', {}, authenticated);
    });
    answer(request, response, authenticated);
  }

  #forEverybody(request: PlainRequest, response: ServerResponse, path: string): void {
    this.#deps.connections.markUnauthenticated(request.socket);
    answerPublic(request, response, path, () => this.#readiness());
  }

  #readiness(): Readiness {
    if (this.#closing) return 'closing';
    return this.#deps.hub.ledger.health === 'good' ? 'ready' : 'unrecorded';
  }
}

/** Paths that pages of other origins may read. The API is for the hub's own pages. */
const forPages: ReadonlySet<string> = new Set(['/mcp', '/sse', '/messages', ...metadataPaths]);

/** Owns the connections on which the admin token came; no token of an agent has this id. */
const operator = 'operator:';

function isOwnOrigin({ host, origin = '' }: Pick<KnownHeaders, 'host' | 'origin'>): boolean {
  return host !== undefined && (origin === `http://${host}` || origin === `https://${host}`);
}

function pathOf(url: string | undefined): string {
  const query = url?.indexOf('?') ?? -1;
  return query < 0 ? (url ?? '/') : (url as string).slice(0, query); // a query was found in it
}
