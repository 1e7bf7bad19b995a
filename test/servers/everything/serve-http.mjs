import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import {
  localhostHostValidation,
  localhostOriginValidation,
  NodeStreamableHTTPServerTransport,
  toNodeHandler,
} from '@modelcontextprotocol/node';
import { classifyInboundRequest, createMcpHandler } from '@modelcontextprotocol/server';
import { listen, readBody, sendJson } from '../raw/http.mjs';
import { createEventStore } from './event-store.mjs';
import { createFactory } from './factory.mjs';

/** Both eras on one endpoint: a modern claim in the body decides; everything else belongs to a client session. */
export async function serveHttp(port) {
  const { factory, onSwitch } = createFactory();
  const modern = createMcpHandler(factory, { legacy: 'reject' });
  onSwitch((kind) => (kind === 'tool' ? modern.notify.toolsChanged() : modern.notify.promptsChanged()));
  const serveModern = toNodeHandler(modern);
  const serveLegacy = createLegacyHandler(factory);
  const hostAllowed = localhostHostValidation();
  const originAllowed = localhostOriginValidation();

  const http = createServer((req, res) => {
    route(req, res).catch((error) => {
      process.stderr.write(`${error.stack}\n`);
      res.destroy();
    });
  });
  await listen(http, port);

  async function route(req, res) {
    if (!hostAllowed(req, res) || !originAllowed(req, res)) return;
    if (new URL(req.url, 'http://localhost').pathname !== '/mcp') {
      sendJson(res, 404, { error: 'not found' });
      return;
    }
    const body = req.method === 'POST' ? parse(await readBody(req)) : undefined;
    const decision = classifyInboundRequest({
      httpMethod: req.method,
      protocolVersionHeader: req.headers['mcp-protocol-version'],
      mcpMethodHeader: req.headers['mcp-method'],
      mcpNameHeader: req.headers['mcp-name'],
      body,
    });
    if (decision.kind === 'legacy') await serveLegacy(req, res, body);
    else await serveModern(req, res, body);
  }
}

function createLegacyHandler(factory) {
  const sessions = new Map();
  return async (req, res, body) => {
    const id = req.headers['mcp-session-id'];
    if (id !== undefined) {
      const transport = sessions.get(id);
      if (transport === undefined) rejectSession(res, 404, 'Session not found');
      else await transport.handleRequest(req, res, body);
      return;
    }
    if (body?.method !== 'initialize') {
      rejectSession(res, 400, 'Bad Request: no session id');
      return;
    }
    const transport = new NodeStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      eventStore: createEventStore(),
      retryInterval: 500,
      onsessioninitialized: (session) => sessions.set(session, transport),
      onsessionclosed: (session) => sessions.delete(session),
    });
    await factory({ era: 'legacy' }).connect(transport);
    await transport.handleRequest(req, res, body);
  };
}

function rejectSession(res, status, message) {
  sendJson(res, status, { jsonrpc: '2.0', id: null, error: { code: -32000, message } });
}

function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
