/** Listens on loopback (0 takes a free port) and prints the one line that tells a test where the server is. */
export function listen(http, port, path = '/mcp') {
  return new Promise((resolve, reject) => {
    http.once('error', reject);
    http.listen(port, '127.0.0.1', () => {
      const taken = http.address().port;
      process.stdout.write(`${JSON.stringify({ url: `http://127.0.0.1:${taken}${path}` })}\n`);
      resolve(taken);
    });
  });
}

export async function readBody(req) {
  const chunks = [];
  for await (const chunk of req) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}

export function sendJson(res, status, body, headers = {}) {
  sendText(res, status, JSON.stringify(body), { 'content-type': 'application/json', ...headers });
}

export function sendText(res, status, body, headers) {
  if (res.headersSent || res.destroyed) return;
  res.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body) });
  res.end(body);
}

export function openSse(res, headers = {}) {
  if (res.headersSent || res.destroyed) return;
  res.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache', ...headers });
  res.flushHeaders();
}

export function writeSse(res, message) {
  if (!res.destroyed) res.write(`event: message\ndata: ${JSON.stringify(message)}\n\n`);
}
