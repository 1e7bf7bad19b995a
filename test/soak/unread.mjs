#!/usr/bin/env node
/**
 * One client asks for many large results and reads none of them. The hub must live, another agent's calls must work, and
 * every result that is not delivered must be an error that says so. With --read it reads them, and all must arrive.
 *
 *   npm run build && node test/soak/unread.mjs [--results 60] [--megabytes 60] [--heap MB] [--read] [--qm bin/qm]
 */
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { parseArgs } from 'node:util';
import { trustFolder } from '../support/trust-folder.mjs';

const { values } = parseArgs({
  options: {
    results: { type: 'string', default: '60' },
    megabytes: { type: 'string', default: '60' },
    heap: { type: 'string' },
    read: { type: 'boolean', default: false },
    qm: { type: 'string', default: resolve(import.meta.dirname, '../../bin/qm') },
  },
});
const [results, bytes] = [Number(values.results), Number(values.megabytes) * 1024 * 1024];
const waitMs = 120_000;

const upstream = await serveLargeResults();
const folder = mkdtempSync(join(tmpdir(), 'qm-unread-'));
trustFolder(join(folder, '.config'), folder);
const env = { PATH: process.env.PATH, HOME: folder, QM_STATE_DIR: join(folder, 'state'), NO_COLOR: '1' };
const workspace = join(folder, 'workspace');
execFileSync('mkdir', [workspace]);
writeFileSync(join(workspace, 'quartermaster.yaml'), JSON.stringify({ servers: { large: { url: upstream.url } } }));
const hub = await startHub();
const sockets = [];
try {
  const [greedy, other] = [tokenFor('greedy'), tokenFor('other')];
  await untilListed(other);
  const before = residentMb();
  const answers = askAndNeverRead(greedy);
  const peak = await watchMemory(answers);
  const small = await call(other, 1024);
  const heads = [...answers.values()];
  const refused = heads.filter((head) => head.includes('"error"'));
  const row = {
    results,
    megabytes: Number(values.megabytes),
    heap: values.heap ?? 'default',
    rssBefore: before,
    rssPeak: peak,
    delivering: heads.length - refused.length,
    refused: refused.length,
    silent: results - heads.length,
    codes: countBy(refused, (head) => /"code":"([A-Z_]+)"/.exec(head)?.[1] ?? 'other'),
    other: small.includes('"result"') ? 'works' : small.slice(0, 200),
    hub: hub.exit() ?? 'lives',
  };
  console.log(JSON.stringify(row));
  process.exitCode = row.hub === 'lives' && row.other === 'works' ? 0 : 1;
} finally {
  for (const socket of sockets) socket.destroy();
  await hub.stop();
  upstream.close();
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}

/** An MCP server over HTTP whose tool answers as many bytes as it is asked for, as fast as they are read. */
async function serveLargeResults() {
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const chunk of request) text += chunk;
    const { id, method, params } = text === '' ? {} : JSON.parse(text);
    if (id === undefined) return response.writeHead(method === undefined ? 405 : 202).end();
    response.setHeader('content-type', 'application/json');
    const answer = (result) => response.end(JSON.stringify({ jsonrpc: '2.0', id, result }));
    if (method === 'initialize') {
      const serverInfo = { name: 'large', version: '1' };
      return answer({ protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo });
    }
    if (method === 'tools/list') return answer({ tools: [{ name: 'make', inputSchema: { type: 'object' } }] });
    if (method !== 'tools/call') {
      return response.end(JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32601, message: 'Method not found' } }));
    }
    await pipeline(Readable.from(pieces(id, params.arguments.bytes)), response).catch(() => {});
  });
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  return {
    url: `http://127.0.0.1:${server.address().port}/mcp`,
    close: () => server.closeAllConnections() || server.close(),
  };
}

function* pieces(id, length) {
  const piece = 'x'.repeat(64 * 1024);
  yield `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":{"content":[{"type":"text","text":"`;
  for (let left = length; left > 0; left -= piece.length) yield left < piece.length ? piece.slice(0, left) : piece;
  yield '"}]}}';
}

async function startHub() {
  const node = values.heap === undefined ? [] : [`--max-old-space-size=${values.heap}`];
  const args = [...node, values.qm, 'serve', '--json', '--port', '0', '--workspace', workspace];
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  let [log, exit] = ['', undefined];
  child.stderr.on('data', (chunk) => {
    log = (log + chunk).slice(-2_000);
  });
  const ended = new Promise((done) => {
    child.once('exit', (code, signal) => {
      exit = `${code ?? signal}: ${log}`;
      done(exit);
    });
  });
  const line = await Promise.race([
    new Promise((done) => createInterface({ input: child.stdout }).once('line', done)),
    ended.then((why) => Promise.reject(new Error(`the hub ended: ${why}`))),
  ]);
  return {
    pid: child.pid,
    port: Number(new URL(JSON.parse(line).url).port),
    exit: () => exit,
    async stop() {
      if (exit === undefined) child.kill('SIGTERM');
      const timer = setTimeout(() => child.kill('SIGKILL'), 20_000);
      await ended;
      clearTimeout(timer);
    },
  };
}

function tokenFor(agent) {
  const args = [values.qm, 'token', 'issue', '--agent', agent, '--json', '--workspace', workspace];
  return JSON.parse(execFileSync(process.execPath, args, { env, encoding: 'utf8' })).token;
}

function residentMb() {
  try {
    return Math.round(Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${hub.pid}/status`, 'utf8'))?.[1]) / 1024);
  } catch {
    return 0;
  }
}

function request(method, params) {
  const meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'unread', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { ...params, _meta: meta } });
  const headers = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': method,
    ...(params.name === undefined ? {} : { 'mcp-name': params.name }),
  };
  return { body, headers };
}

async function send(token, method, params) {
  const { body, headers } = request(method, params);
  const url = `http://127.0.0.1:${hub.port}/mcp`;
  const signal = AbortSignal.timeout(waitMs);
  const authorization = `Bearer ${token}`;
  const response = await fetch(url, { method: 'POST', headers: { ...headers, authorization }, body, signal });
  return response.text();
}

function call(token, length) {
  return send(token, 'tools/call', { name: 'large_make', arguments: { bytes: length } }).catch((error) =>
    String(error),
  );
}

async function untilListed(token) {
  for (let tries = 0; tries < 60; tries += 1) {
    if ((await send(token, 'tools/list', {})).includes('large_make')) return;
    await new Promise((done) => setTimeout(done, 500));
  }
  throw new Error('the hub lists no tool');
}

/** The beginning of each answer, by the number of its socket. */
function askAndNeverRead(token) {
  const heads = new Map();
  const { body, headers } = request('tools/call', { name: 'large_make', arguments: { bytes } });
  const all = { host: 'localhost', authorization: `Bearer ${token}`, ...headers, 'content-length': body.length };
  const head = Object.entries(all).map(([name, value]) => `${name}: ${value}`);
  for (let number = 0; number < results; number += 1) {
    const socket = connect(hub.port, '127.0.0.1');
    socket.on('error', () => {});
    let text = '';
    socket.on('data', (chunk) => {
      text = (text + chunk.toString('latin1', 0, 4_000)).slice(0, 8_000);
      // A stream may begin with comments that keep it alive.
      if (!/"result"|"error"/.test(text)) return;
      if (!values.read) socket.pause();
      heads.set(number, text);
    });
    socket.write(`POST /mcp HTTP/1.1\r\n${head.join('\r\n')}\r\n\r\n${body}`);
    sockets.push(socket);
  }
  return heads;
}

/** The peak until every call has an answer, or the hub has ended. */
async function watchMemory(answers) {
  let peak = 0;
  const until = performance.now() + waitMs;
  while (performance.now() < until && hub.exit() === undefined && answers.size < results) {
    peak = Math.max(peak, residentMb());
    await new Promise((done) => setTimeout(done, 50));
  }
  return peak;
}

function countBy(all, keyOf) {
  const counts = {};
  for (const each of all) counts[keyOf(each)] = (counts[keyOf(each)] ?? 0) + 1;
  return counts;
}
