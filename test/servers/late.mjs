/**
 * A server that takes its time, over stdio or, with --http, over streamable HTTP with client sessions:
 *
 *   node late.mjs [--http] [--sse] [--era legacy|modern|both] [--record FILE]
 *     [--start MS] [--list MS] [--call MS] [--progress MS] [--grow MS]
 *
 * --sse: answers are streams that open at once · --start: before it answers anything · --list, --call: before each answer
 * of that kind · --progress: how often a call reports progress · --grow: after the first list, until a second tool is
 * announced · --record: what it received, a line of JSON each.
 */
import { appendFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { said } from './raw/echo-tools.mjs';
import { serveHttp } from './raw/serve-http.mjs';
import { serveStdio } from './raw/serve-stdio.mjs';

const ms = { type: 'string', default: '0' };
const { values } = parseArgs({
  options: {
    http: { type: 'boolean', default: false },
    sse: { type: 'boolean', default: false },
    era: { type: 'string', default: 'legacy' },
    record: { type: 'string' },
    ...{ start: ms, list: ms, call: ms, progress: ms, grow: ms },
  },
});
const delays = Object.fromEntries(
  ['start', 'list', 'call', 'progress', 'grow'].map((key) => [key, Number(values[key])]),
);
const tools = [tool('late_echo', 'Says what it was told')];
let onGrowth = () => {};

const server = {
  name: 'late',
  async listTools() {
    const known = [...tools];
    await pause(delays.list);
    if (delays.grow > 0 && tools.length === 1) grow();
    return { tools: known };
  },
  async callTool({ arguments: { message }, progress, signal }) {
    const step = delays.progress || delays.call;
    for (let waited = 0, count = 1; waited < delays.call && !signal.aborted; waited += step, count += 1) {
      await pause(Math.min(step, delays.call - waited), undefined, { signal }).catch(() => {});
      if (delays.progress > 0) progress(count);
    }
    record({ method: signal.aborted ? 'call cancelled' : 'call answered' });
    return said(String(message));
  },
  ...(delays.grow > 0 && {
    onChange(listener) {
      onGrowth = listener;
      return () => {};
    },
  }),
};

await pause(delays.start);
if (values.http) {
  await serveHttp(server, { port: 0, era: values.era, sse: values.sse, sessions: true, intercept: recordRequest });
} else {
  serveStdio(server, values.era, { accept: (message) => record(message) });
}

function grow() {
  tools.push(tool('late_grown', 'Came later'));
  setTimeout(() => {
    record({ method: 'list_changed sent' });
    onGrowth();
  }, delays.grow);
}

function recordRequest(res, message) {
  const { method, headers } = res.req;
  record({ http: method, headers, ...message });
  res.on('close', () => {
    if (!res.writableFinished) record({ http: method, method: 'connection closed' });
  });
  return false;
}

function record(entry) {
  if (values.record !== undefined) appendFileSync(values.record, `${JSON.stringify({ at: Date.now(), ...entry })}\n`);
  return true;
}

function tool(name, description) {
  const inputSchema = { type: 'object', properties: { message: { type: 'string' } }, required: ['message'] };
  return { name, description, inputSchema };
}
