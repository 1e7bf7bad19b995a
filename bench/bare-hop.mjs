// The reference: a naive hop that renumbers requests and passes them on. No identity, no policy, no record.
// usage: node bare-hop.mjs http://host:port/path   or   node bare-hop.mjs COMMAND [ARGS…]
import { spawn } from 'node:child_process';
import { serveJson } from './harness/serve-json.mjs';

const target = process.argv.slice(2);
const upstream = /^https?:/.test(target[0]) ? await connectHttp(target[0]) : connectStdio(target);

serveJson(async (message) => {
  if (message.id === undefined) {
    upstream.notify(message);
    return undefined;
  }
  const reply = await upstream.request(message);
  reply.id = message.id;
  return reply;
});

async function connectHttp(address) {
  const { Pool } = await import('undici');
  const { origin, pathname } = new URL(address);
  const pool = new Pool(origin, { connections: 128 });
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
  let last = 0;
  return {
    notify() {},
    async request(message) {
      const body = JSON.stringify({ ...message, id: ++last });
      const response = await pool.request({ path: pathname, method: 'POST', headers, body });
      return JSON.parse(await response.body.text());
    },
  };
}

function connectStdio([command, ...args]) {
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  const waiting = new Map();
  let last = 0;
  let rest = '';
  child.stdout.setEncoding('utf8').on('data', (chunk) => {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop();
    for (const line of lines) if (line !== '') settle(JSON.parse(line));
  });
  child.on('close', () => process.exit(1));

  function settle(reply) {
    const resolve = waiting.get(reply.id);
    waiting.delete(reply.id);
    resolve?.(reply);
  }

  return {
    notify: (message) => child.stdin.write(`${JSON.stringify(message)}\n`),
    request(message) {
      return new Promise((resolve) => {
        const id = ++last;
        waiting.set(id, resolve);
        child.stdin.write(`${JSON.stringify({ ...message, id })}\n`);
      });
    },
  };
}
