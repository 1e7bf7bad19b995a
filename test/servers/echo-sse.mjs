/**
 * Echo over HTTP with server-sent events, the transport of 2024:
 *
 *   node echo-sse.mjs [--endpoint relative|absolute|foreign|junk|none] [--streamable STATUS] [--port N] [BAD…]
 *
 * --streamable: what a POST to the address itself is answered, as servers do that know no streamable HTTP (404).
 * BAD, any number of: --get-status N, --call-status N (what the GET, or the POST of a call, is answered),
 * --drop-on-call (the stream ends), --garbage (noise between the messages), --hang-post (a call is never taken),
 * --hold-post (a call is answered over the stream while its POST stays open), --ask (the server asks the client).
 * HEADER_LOG gets one line {"method","authorization","team"} per request.
 */
import { randomUUID } from 'node:crypto';
import { appendFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { parseArgs } from 'node:util';
import { answer } from './raw/answer.mjs';
import { logCall } from './raw/call-log.mjs';
import { createEchoServer } from './raw/echo-tools.mjs';
import { listen, openSse, readBody, sendJson, sendText, writeSse } from './raw/http.mjs';

const { values } = parseArgs({
  options: {
    port: { type: 'string', default: '0' },
    endpoint: { type: 'string', default: 'relative' },
    streamable: { type: 'string', default: '404' },
    'get-status': { type: 'string' },
    'call-status': { type: 'string' },
    'drop-on-call': { type: 'boolean' },
    garbage: { type: 'boolean' },
    'hang-post': { type: 'boolean' },
    'hold-post': { type: 'boolean' },
    ask: { type: 'boolean' },
  },
});
const server = createEchoServer('echo-sse', 'http');
const sessions = new Map();

const http = createServer((req, res) => {
  receive(req, res).catch((error) => {
    process.stderr.write(`${error.stack}\n`);
    res.destroy();
  });
});
await listen(http, Number(values.port), '/sse');

async function receive(req, res) {
  logHeaders(req);
  const { pathname, searchParams } = new URL(req.url, 'http://127.0.0.1');
  const text = await readBody(req);
  if (pathname === '/sse' && req.method === 'GET') openStream(req, res);
  else if (pathname === '/sse') sendText(res, Number(values.streamable), 'Nothing here', {});
  else if (pathname !== '/messages') sendText(res, 404, 'Not found', {});
  else await receiveMessage(sessions.get(searchParams.get('sessionId')), res, text, req);
}

function openStream(req, res) {
  if (values['get-status'] !== undefined) {
    const headers = { 'retry-after': '7', location: 'http://127.0.0.1:9/sse' };
    sendJson(res, Number(values['get-status']), { error: 'no' }, headers);
    return;
  }
  const id = randomUUID();
  const path = `/messages?sessionId=${id}`;
  const endpoints = {
    relative: path,
    absolute: `http://${req.headers.host}${path}`,
    foreign: `http://127.0.0.1:9${path}`,
    junk: 'http://[',
  };
  sessions.set(id, { stream: res, running: new Map() });
  res.on('close', () => sessions.delete(id));
  openSse(res);
  if (values.garbage) res.write(': hello\n\nevent: ping\ndata: {}\n\n');
  const endpoint = endpoints[values.endpoint];
  if (endpoint !== undefined) res.write(`event: endpoint\ndata: ${endpoint}\n\n`);
}

async function receiveMessage(session, res, text, req) {
  if (session === undefined) {
    sendText(res, 404, 'Could not find session', {});
    return;
  }
  const message = JSON.parse(text);
  if (message.method === 'tools/call' && misbehave(session, res, message, text)) return;
  if (!(values['hold-post'] && message.method === 'tools/call')) sendText(res, 202, 'Accepted', {});
  if (message.method === 'notifications/cancelled') session.running.get(message.params?.requestId)?.abort();
  if (message.method === undefined || message.id === undefined) return;
  if (values.garbage) session.stream.write('data: {"jsonrpc":"2.0","id":1,"resu\n\ndata: []\n\ndata: not json\n\n');
  if (values.ask) writeSse(session.stream, { jsonrpc: '2.0', id: 'q1', method: 'roots/list' });
  const abort = new AbortController();
  session.running.set(message.id, abort);
  const io = {
    signal: abort.signal,
    http: { authorization: req.headers.authorization ?? '', host: req.headers.host },
    send: (notice) => writeSse(session.stream, notice),
  };
  const response = await answer(server, 'legacy', text, message, io);
  session.running.delete(message.id);
  if (response !== undefined) writeSse(session.stream, response);
}

function misbehave(session, res, message, text) {
  const status = values['call-status'];
  if (status === undefined && !values['drop-on-call'] && !values['hang-post']) return false;
  logCall(message, text);
  if (status !== undefined) sendJson(res, Number(status), { error: 'no' }, { 'retry-after': '7' });
  else if (values['drop-on-call']) {
    sendText(res, 202, 'Accepted', {});
    session.stream.destroy();
  }
  return true;
}

function logHeaders(req) {
  if (!process.env.HEADER_LOG) return;
  const { authorization = '', 'x-team': team = '' } = req.headers;
  appendFileSync(process.env.HEADER_LOG, `${JSON.stringify({ method: req.method, authorization, team })}\n`);
}
