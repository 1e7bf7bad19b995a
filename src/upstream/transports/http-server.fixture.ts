import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

export interface Received {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly text: string;
  /** The JSON-RPC message; empty for requests without one. */
  readonly message: Readonly<Record<string, unknown>>;
}

export interface HttpServer {
  readonly url: string;
  readonly received: readonly Received[];
  /** Connections that were opened so far. */
  readonly connections: number;
  close(): Promise<void>;
}

/** A plain HTTP server that the test controls. It ends with the test. */
export async function serveHttp(answer: (received: Received) => void): Promise<HttpServer> {
  const received: Received[] = [];
  let connections = 0;
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString('utf8');
      const entry = { request, response, text, message: text === '' ? {} : JSON.parse(text) };
      received.push(entry);
      answer(entry);
    });
  });
  server.on('connection', () => {
    connections++;
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo; // it listens on a TCP port
  async function close(): Promise<void> {
    if (!server.listening) return;
    const closed = new Promise((resolve) => server.close(resolve));
    server.closeAllConnections();
    await closed;
  }
  onTestFinished(close);
  return {
    url: `http://127.0.0.1:${port}/mcp?team=a`,
    received,
    get connections() {
      return connections;
    },
    close,
  };
}

export function sendJsonReply(response: ServerResponse, status: number, body: unknown, headers: object = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(typeof body === 'string' ? body : JSON.stringify(body));
}

export function openStream(response: ServerResponse): { send(message: object): void; end(): void } {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.flushHeaders();
  return {
    send: (message) => void response.write(`event: message\ndata: ${JSON.stringify(message)}\n\n`),
    end: () => void response.end(),
  };
}
