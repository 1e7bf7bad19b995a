import type { Server, ServerOptions } from 'node:http';
import { type Clock, HubError, type Timer } from '../../base/index.ts';

/** How long a client may take, in milliseconds. */
export interface GatewayTimeouts {
  readonly headers: number;
  /** From the first byte of a request to its last. */
  readonly request: number;
  /** A connection without a request in progress. */
  readonly keepAlive: number;
  /** A connection whose requests come without a valid token. */
  readonly unauthenticated: number;
  /** For responses to be sent once the hub is closing. */
  readonly close: number;
}

export const defaultTimeouts: GatewayTimeouts = {
  headers: 10_000,
  request: 30_000,
  keepAlive: 65_000,
  unauthenticated: 30_000,
  close: 12_000,
};

/** Limits what a client can cost the hub before it has sent a request. */
export function serverOptions(timeouts: GatewayTimeouts): ServerOptions {
  return {
    maxHeaderSize: 16 * 1024,
    headersTimeout: timeouts.headers,
    requestTimeout: timeouts.request,
    keepAliveTimeout: timeouts.keepAlive,
    connectionsCheckingInterval: Math.min(5000, timeouts.headers / 2),
  };
}

/** Rejects with HubError when the address cannot be listened on. */
export function listenOn(
  server: Server,
  { host, port }: { readonly host: string; readonly port: number },
): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(cannotListen(error, host, port)));
    server.listen({ host, port, backlog: 1024 }, () => {
      server.removeAllListeners('error');
      resolve();
    });
  });
}

/** Closes connections as they become idle, and the rest when the grace period is over. */
export function closeServer(
  server: Server,
  { clock, graceMs, closeUnused }: { readonly clock: Clock; readonly graceMs: number; closeUnused(): void },
): Promise<void> {
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
  if (!busy) {
    const hint = 'Choose another --host or --port.';
    return new HubError('USAGE', `Cannot listen on ${host}:${port}: ${error.message}.`, { cause: error, hint });
  }
  return new HubError('PORT_TAKEN', `Cannot listen on ${host}:${port}: the port is taken.`, {
    cause: error,
    hint: 'Take a free port with --port 0, or stop the program that listens there.',
  });
}
