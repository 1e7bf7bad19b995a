/**
 * A handshake server one of whose messages nests without need: `node deep.mjs stdio|json|stream|sse PLACE [--port N]`.
 *
 * json, stream: streamable HTTP that answers with a body or with events · sse: the transport of 2024.
 * PLACE: the method whose answer is deep, or one of `call-error`, `notification`, `request` (before the answer of a call),
 * `later` (the second list of tools, after the first was announced to have changed).
 */
import { createServer } from 'node:http';
import { listen, openSse, readBody } from './raw/http.mjs';
import { onLines } from './raw/lines.mjs';

const [transport, place] = process.argv.slice(2);
const port = Number(process.argv[process.argv.indexOf('--port') + 1]) || 0;
const deep = '['.repeat(8000) + ']'.repeat(8000);
let lists = 0;

const results = {
  initialize: `"protocolVersion":"2025-11-25","serverInfo":{"name":"deep","version":"1"},"capabilities":{"tools":{"listChanged":true},"resources":{},"prompts":{}}`,
  'tools/list': `"tools":[{"name":"ping","inputSchema":{"type":"object"DEEP}}]`,
  'resources/list': `"resources":[{"uri":"a:b","name":"b"DEEP}]`,
  'resources/templates/list': `"resourceTemplates":[{"uriTemplate":"a:{b}","name":"b"DEEP}]`,
  'prompts/list': `"prompts":[{"name":"p"DEEP}]`,
  'tools/call': `"content":[{"type":"text","text":"pong"}]`,
};

/** Every message that one request brings. */
function replies({ id, method }) {
  if (id === undefined || method === undefined) return [];
  const body = results[method];
  if (body === undefined) return [`{"jsonrpc":"2.0","id":${id},"error":{"code":-32601,"message":"unknown"}}`];
  const texts = [];
  if (method === 'tools/call') {
    const params = `"params":{"a":${deep}}`;
    if (place === 'notification') texts.push(`{"jsonrpc":"2.0","method":"notifications/message",${params}}`);
    if (place === 'request') texts.push(`{"jsonrpc":"2.0","id":${id},"method":"sampling/createMessage",${params}}`);
    if (place === 'call-error') {
      return [`{"jsonrpc":"2.0","id":${id},"error":{"code":-32000,"message":"no","data":${deep}}}`];
    }
  }
  if (method === 'tools/list') lists += 1;
  const isDeep = method === place || (method === 'tools/list' && place === 'later' && lists > 1);
  const inside = isDeep && body.includes('DEEP');
  const beside = isDeep && !inside ? `,"_meta":{"a":${deep}}` : '';
  if (method === 'tools/list' && place === 'later' && lists === 1) {
    texts.push('{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}');
  }
  const result = body.replace('DEEP', inside ? `,"x":${deep}` : '') + beside;
  return [...texts, `{"jsonrpc":"2.0","id":${id},"result":{${result}}}`];
}

if (transport === 'stdio') {
  onLines(process.stdin, (line) => {
    for (const text of replies(JSON.parse(line))) process.stdout.write(`${text}\n`);
  });
  process.stdin.on('end', () => process.exit(0));
} else {
  let stream;
  const http = createServer(async (req, res) => {
    const text = await readBody(req);
    if (transport === 'sse' && req.method === 'GET') {
      stream = res;
      openSse(res);
      res.write('event: endpoint\ndata: /messages\n\n');
      return;
    }
    if (req.method !== 'POST' || (transport === 'sse' && req.url === '/mcp')) {
      res.writeHead(405).end();
      return;
    }
    answer(res, replies(JSON.parse(text)));
  });

  function answer(res, texts) {
    const events = texts.map((text) => `event: message\ndata: ${text}\n\n`).join('');
    if (transport === 'sse') {
      res.writeHead(202).end();
      stream.write(events);
    } else if (texts.length === 0) res.writeHead(202).end();
    else if (transport === 'stream' || texts.length > 1) {
      openSse(res);
      res.end(events);
    } else res.writeHead(200, { 'content-type': 'application/json' }).end(texts[0]);
  }

  await listen(http, port);
}
