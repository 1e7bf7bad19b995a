/**
 * Servers over streamable HTTP that misbehave in one way each:
 *
 *   node bad-http.mjs MODE [--on-call] [--sessions] [--era legacy|modern|both] [--to URL] [--port N]
 *
 * A mode named for a call leaves everything else to the echo server; --on-call makes every mode so.
 */
import { parseArgs } from 'node:util';
import { logCall } from './raw/call-log.mjs';
import { createEchoServer, said } from './raw/echo-tools.mjs';
import { openSse, sendJson, sendText, writeSse } from './raw/http.mjs';
import { notification } from './raw/protocol.mjs';
import { serveHttp } from './raw/serve-http.mjs';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    port: { type: 'string', default: '0' },
    era: { type: 'string', default: 'legacy' },
    'on-call': { type: 'boolean', default: false },
    sessions: { type: 'boolean', default: false },
    // Port 9 is where nobody listens: whoever follows the redirect fails.
    to: { type: 'string', default: 'http://127.0.0.1:9/mcp' },
  },
});
const mode = positionals[0];
const server = createEchoServer('bad-http', 'http');
const challenge = 'Bearer realm="fixture", error="invalid_token"';

const always = {
  401: (res) => sendJson(res, 401, { error: 'invalid_token' }, { 'www-authenticate': challenge }),
  403: (res) => sendJson(res, 403, { error: 'insufficient_scope' }),
  429: (res) => sendJson(res, 429, { error: 'slow down' }, { 'retry-after': '7' }),
  500: (res) => sendText(res, 500, 'Internal Server Error', { 'content-type': 'text/plain' }),
  hang: () => {},
  garbage: (res) => sendText(res, 200, '{"jsonrpc":"2.0","id":1,"resu', { 'content-type': 'application/json' }),
  html: (res) => sendText(res, 200, '<!doctype html><title>Sign in</title>', { 'content-type': 'text/html' }),
  redirect: (res) => res.writeHead(302, { location: values.to }).end(),
};

let resets = 0;
const onCall = {
  'hang-on-call': () => {},
  'closes-mid-call': (res) => res.destroy(),
  /** The first call alone; the echo server answers the others. */
  'resets-first-call'(res) {
    if (resets > 0) return false;
    resets += 1;
    res.destroy();
  },
  'sse-cut'(res) {
    openSse(res);
    writeSse(res, notification('notifications/message', { level: 'info', data: 'about to break off' }));
    res.end();
  },
  huge(res, message) {
    const result = { resultType: 'complete', ...said('x'.repeat(10 * 1024 * 1024)) };
    sendJson(res, 200, { jsonrpc: '2.0', id: message.id, result });
  },
};

const act = always[mode] ?? onCall[mode];
if (act === undefined) {
  process.stderr.write(`usage: node bad-http.mjs ${Object.keys({ ...always, ...onCall }).join('|')}\n`);
  process.exit(2);
}
const onlyCalls = values['on-call'] || onCall[mode] !== undefined;

await serveHttp(server, {
  port: Number(values.port),
  era: values.era,
  sessions: values.sessions,
  intercept(res, message, text) {
    const call = message?.method === 'tools/call';
    if (onlyCalls && !call) return false;
    const isTaken = act(res, message) !== false;
    // What is left to the echo server is logged there.
    if (call && isTaken) logCall(message, text);
    return isTaken;
  },
});
