import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { answer } from './answer.mjs';
import { headerProblem } from './headers.mjs';
import { listen, openSse, readBody, sendJson, writeSse } from './http.mjs';
import { codes, envelopeProblem, failure, legacyVersions, notification, versionKey } from './protocol.mjs';

const changed = notification('notifications/tools/list_changed');

/**
 * Serves streamable HTTP on loopback.
 *
 * @param {{ port: number, era: 'legacy' | 'modern' | 'both', sse?: boolean, sessions?: boolean,
 *   intercept?(res, message, text): boolean }} options
 *   sse: every answer is a stream · sessions: client sessions with ids, and a GET stream for a server that changes ·
 *   intercept: takes a request over, for servers that are broken on purpose
 */
export async function serveHttp(server, options) {
  const sessions = new Map();
  const running = new Set();
  const http = createServer((req, res) => {
    receive(req, res).catch((error) => {
      process.stderr.write(`${error.stack}\n`);
      res.destroy();
    });
  });
  server.onChange?.(() => {
    for (const session of sessions.values()) {
      for (const stream of session.streams) writeSse(stream, changed);
      // Kept for the stream that is about to open, so that no test depends on who is first.
      session.missed = session.streams.size === 0;
    }
  });
  return listen(http, options.port);

  async function receive(req, res) {
    const text = await readBody(req);
    const message = parse(text);
    if (options.intercept?.(res, message, text)) return;
    if (req.method !== 'POST') receiveOther(req, res);
    else if (message === undefined) sendJson(res, 400, failure(null, codes.parse, 'Parse error'));
    else if (eraOf(req, message) === 'modern') await receiveModern(req, res, text, message);
    else await receiveLegacy(req, res, text, message);
  }

  function eraOf(req, message) {
    if (options.era !== 'both') return options.era;
    const claim = message.params?._meta?.[versionKey] ?? req.headers['mcp-protocol-version'];
    return claim === undefined || legacyVersions.includes(claim) ? 'legacy' : 'modern';
  }

  async function receiveModern(req, res, text, message) {
    if (message.id === undefined) {
      res.writeHead(202).end();
      return;
    }
    const problem = (await headerProblem(server, req.headers, message)) ?? envelopeProblem(message);
    if (problem !== undefined) {
      sendJson(res, 400, problem);
      return;
    }
    const abort = new AbortController();
    res.on('close', () => abort.abort());
    await respond(req, res, text, message, 'modern', abort.signal);
  }

  async function receiveLegacy(req, res, text, message) {
    const version = req.headers['mcp-protocol-version'];
    if (version !== undefined && !legacyVersions.includes(version)) {
      sendJson(res, 400, failure(message.id, -32000, `Bad Request: Unsupported protocol version ${version}`));
      return;
    }
    const session = req.headers['mcp-session-id'];
    if (options.sessions && message.method !== 'initialize' && rejectSession(res, session, message.id)) return;
    if (message.id === undefined) {
      if (message.method === 'notifications/cancelled') cancel(session, message.params?.requestId);
      res.writeHead(202).end();
      return;
    }
    const created = options.sessions && message.method === 'initialize' ? randomUUID() : undefined;
    if (created !== undefined) sessions.set(created, { streams: new Set(), missed: false });
    const abort = new AbortController();
    const call = { session, id: message.id, abort };
    running.add(call);
    await respond(req, res, text, message, 'legacy', abort.signal, created);
    running.delete(call);
  }

  async function respond(req, res, text, message, era, signal, session) {
    const headers = session === undefined ? {} : { 'mcp-session-id': session };
    if (options.sse) openSse(res, headers);
    const io = {
      signal,
      http: received(req),
      send(notice) {
        openSse(res, headers);
        writeSse(res, notice);
      },
    };
    const response = await answer(server, era, text, message, io);
    if (res.headersSent) {
      if (response !== undefined) writeSse(res, response);
      res.end();
    } else {
      // A cancelled call owes no answer, but an HTTP exchange has to end somehow.
      const body = response ?? failure(message.id, -32000, 'cancelled');
      sendJson(res, statusOf(era, body), body, headers);
    }
  }

  function receiveOther(req, res) {
    const session = req.headers['mcp-session-id'];
    if (!options.sessions || options.era === 'modern') {
      res.writeHead(405, { allow: 'POST' }).end();
    } else if (rejectSession(res, session, null)) {
      return;
    } else if (req.method === 'DELETE') {
      for (const stream of sessions.get(session).streams) stream.end();
      sessions.delete(session);
      res.writeHead(200).end();
    } else if (req.method === 'GET' && server.onChange !== undefined) {
      openStream(res, sessions.get(session));
    } else {
      res.writeHead(405, { allow: 'POST, DELETE' }).end();
    }
  }

  function rejectSession(res, session, id) {
    if (sessions.has(session)) return false;
    const [status, words] = session === undefined ? [400, 'Bad Request: no session id'] : [404, 'Session not found'];
    sendJson(res, status, failure(id, -32000, words));
    return true;
  }

  function cancel(session, id) {
    for (const call of running) {
      if (call.session === session && call.id === id) call.abort.abort();
    }
  }
}

function openStream(res, session) {
  openSse(res);
  if (session.missed) writeSse(res, changed);
  session.missed = false;
  session.streams.add(res);
  res.on('close', () => session.streams.delete(res));
}

function statusOf(era, body) {
  return era === 'modern' && body.error?.code === codes.unknownMethod ? 404 : 200;
}

/** What a test wants to know about the request's headers. */
function received(req) {
  return {
    headers: Object.keys(req.headers),
    authorization: req.headers.authorization ?? '',
    region: req.headers['mcp-param-region'] ?? '',
    traceparent: req.headers.traceparent ?? '',
    tracestate: req.headers.tracestate ?? '',
    host: req.headers.host,
  };
}

function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
