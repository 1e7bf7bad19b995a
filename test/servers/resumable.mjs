/**
 * A legacy server whose streams can be resumed: it keeps its events, and cuts its own streams where it is asked to.
 *
 *   node resumable.mjs [--port N]     (0, the default, takes a free port; prints {"url"} once it listens)
 */
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { NodeStreamableHTTPServerTransport } from '@modelcontextprotocol/node';
import { McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { createEventStore } from './everything/event-store.mjs';
import { listen, readBody, sendJson } from './raw/http.mjs';

const steps = 5;
const { values } = parseArgs({ options: { port: { type: 'string', default: '0' } } });
const sessions = new Map();
const runs = new Map();

const http = createServer((req, res) => {
  receive(req, res).catch((error) => {
    process.stderr.write(`${error.stack}\n`);
    res.destroy();
  });
});
await listen(http, Number(values.port));

async function receive(req, res) {
  const body = req.method === 'POST' ? JSON.parse(await readBody(req)) : undefined;
  const id = req.headers['mcp-session-id'];
  if (id !== undefined && sessions.has(id)) await sessions.get(id).handleRequest(req, res, body);
  else if (id === undefined && body?.method === 'initialize') await open(req, res, body);
  else
    sendJson(res, id === undefined ? 400 : 404, { jsonrpc: '2.0', id: null, error: { code: -32000, message: 'no' } });
}

async function open(req, res, body) {
  const transport = new NodeStreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    eventStore: createEventStore(),
    retryInterval: 100,
    onsessioninitialized: (session) => sessions.set(session, transport),
    onsessionclosed: (session) => sessions.delete(session),
  });
  const server = new McpServer({ name: 'resumable', version: '1.0.0' });
  const inputSchema = z.object({ nonce: z.string(), ms: z.number(), cuts: z.boolean().optional() });
  server.registerTool('steps', { description: 'Five steps; cuts its stream after each if asked to', inputSchema }, run);
  await server.connect(transport);
  await transport.handleRequest(req, res, body);
}

/** The answer tells how often this was called with the nonce. */
async function run({ nonce, ms, cuts }, ctx) {
  runs.set(nonce, (runs.get(nonce) ?? 0) + 1);
  const progressToken = ctx.mcpReq._meta?.progressToken;
  for (let progress = 1; progress <= steps; progress++) {
    if (progressToken !== undefined) {
      const params = { progressToken, progress, total: steps, message: nonce };
      await ctx.mcpReq.notify({ method: 'notifications/progress', params });
    }
    if (cuts) ctx.http?.closeSSE?.();
    await wait(ms / steps);
  }
  return { content: [{ type: 'text', text: `${nonce}:${runs.get(nonce)}` }] };
}
