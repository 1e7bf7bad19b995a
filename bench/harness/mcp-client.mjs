import { Pool } from 'undici';

/** No answer may take longer; then it counts as bad. */
const timeoutMs = 30_000;

/** One client session of the 2025 era over as many connections as it needs. */
export function openClient({ url, headers: extra = {} }) {
  const { origin, pathname, search } = new URL(url);
  const path = pathname + search;
  const pool = new Pool(origin, {
    connections: 256,
    pipelining: 1,
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
  });
  const headers = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    ...extra,
  };
  let nextId = 1;

  async function request(method, params) {
    const id = nextId++;
    const response = await post({ jsonrpc: '2.0', id, method, params });
    const body = await response.body.text();
    const arrivedAt = process.hrtime.bigint();
    const isStream = String(response.headers['content-type'] ?? '').includes('event-stream');
    const reply = isStream ? replyIn(body, id) : parse(body);
    return { status: response.statusCode, headers: response.headers, reply, arrivedAt };
  }

  function post(message) {
    return pool.request({ path, method: 'POST', headers, body: JSON.stringify(message) });
  }

  return {
    request,
    async initialize() {
      const clientInfo = { name: 'bench', version: '1' };
      const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo };
      const { status, headers: got, reply } = await request('initialize', params);
      if (!reply?.result) throw new Error(`initialize failed: HTTP ${status} ${JSON.stringify(reply)}`);
      const session = got['mcp-session-id'];
      if (session !== undefined) headers['mcp-session-id'] = session;
      headers['mcp-protocol-version'] = '2025-06-18';
      const done = await post({ jsonrpc: '2.0', method: 'notifications/initialized' });
      await done.body.dump();
      return session;
    },
    /** The stream on which a server may speak first; stays open until the client is dropped. */
    async listen(onText = () => {}) {
      const response = await pool.request({ path, method: 'GET', headers, bodyTimeout: 0 });
      if (response.statusCode !== 200) throw new Error(`GET answered HTTP ${response.statusCode}`);
      response.body
        .setEncoding('utf8')
        .on('error', () => {})
        .on('data', onText);
    },
    /** Says goodbye: some contenders keep a child process for each session that is still open. */
    async end() {
      const response = await pool.request({ path, method: 'DELETE', headers });
      await response.body.dump();
      await pool.close();
    },
    /** Goes away without a word. */
    drop: () => pool.destroy(),
  };
}

function replyIn(stream, id) {
  for (const line of stream.split('\n')) {
    if (!line.startsWith('data:')) continue;
    const message = parse(line.slice(5));
    if (message?.id === id) return message;
  }
  return undefined;
}

function parse(text) {
  const trimmed = text.trim();
  if (trimmed === '') return undefined;
  try {
    return JSON.parse(trimmed);
  } catch {
    return undefined;
  }
}
