import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { NodeStreamableHTTPServerTransport, toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler } from '@modelcontextprotocol/server';
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';
import { listen, readBody, sendJson } from '../raw/http.mjs';

/** Four ways to serve; each refuses the other era as a server that never heard of it would. */
export async function serveLegacyStdio({ make }) {
  await make({ keep: true }).connect(new StdioServerTransport());
}

export function serveModernStdio({ make }) {
  serveStdio(() => make({ keep: true }), { legacy: 'reject' });
}

export async function serveModernHttp({ make, board }, port) {
  const handler = createMcpHandler(() => make({ keep: false }), { legacy: 'reject' });
  const { notify } = handler;
  const announce = {
    tool: () => notify.toolsChanged(),
    prompt: () => notify.promptsChanged(),
    resource: () => notify.resourcesChanged(),
    update: (uri) => notify.resourceUpdated(uri),
  };
  board.onChange(({ kind, uri }) => announce[kind](uri));
  await serve(toNodeHandler(handler), port);
}

export async function serveLegacyHttp({ make }, port) {
  const sessions = new Map();
  await serve(async (req, res) => {
    const body = req.method === 'POST' ? JSON.parse(await readBody(req)) : undefined;
    const id = req.headers['mcp-session-id'];
    if (id === undefined && body?.method === 'initialize') await open(req, res, body);
    else if (id === undefined) refuse(res, 400, 'Bad Request: no session id');
    else if (!sessions.has(id)) refuse(res, 404, 'Session not found');
    else await sessions.get(id).handleRequest(req, res, body);
  }, port);

  async function open(req, res, body) {
    const transport = new NodeStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (session) => sessions.set(session, transport),
      onsessionclosed: (session) => sessions.delete(session),
    });
    await make({ keep: true }).connect(transport);
    await transport.handleRequest(req, res, body);
  }
}

function refuse(res, status, message) {
  sendJson(res, status, { jsonrpc: '2.0', id: null, error: { code: -32000, message } });
}

async function serve(handle, port) {
  const http = createServer((req, res) => {
    Promise.resolve(handle(req, res)).catch((error) => {
      process.stderr.write(`${error.stack}\n`);
      res.destroy();
    });
  });
  await listen(http, port);
}
