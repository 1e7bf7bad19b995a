/**
 * A server whose tool list grows and comes in pages of two.
 *
 *   node tools-change.mjs [--modern]                 over stdio
 *   node tools-change.mjs --http PORT [--modern]     over streamable HTTP; the handshake era has client sessions
 */
import { parseArgs } from 'node:util';
import { invalidParams } from './raw/answer.mjs';
import { said } from './raw/echo-tools.mjs';
import { serveHttp } from './raw/serve-http.mjs';
import { serveStdio } from './raw/serve-stdio.mjs';

const { values } = parseArgs({
  options: { http: { type: 'string' }, port: { type: 'string' }, modern: { type: 'boolean', default: false } },
});
const era = values.modern ? 'modern' : 'legacy';
const port = values.port ?? values.http;
const server = createGrowingServer();

if (port === undefined) serveStdio(server, era);
else await serveHttp(server, { era, port: Number(port), sessions: !values.modern });

function createGrowingServer() {
  const pageSize = 2;
  const names = ['grow', 'oak', 'elm', 'ash', 'fir'];
  const listeners = new Set();
  return {
    name: 'tools-change',
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    listTools({ cursor }) {
      const start = cursor === undefined ? 0 : Number(/^from-(\d+)$/.exec(cursor)?.[1] ?? Number.NaN);
      if (!(start < names.length)) throw invalidParams(`Unknown cursor: ${cursor}`);
      const next = start + pageSize;
      const tools = names
        .slice(start, next)
        .map((name) => ({ name, description: name, inputSchema: { type: 'object' } }));
      return next < names.length ? { tools, nextCursor: `from-${next}` } : { tools };
    },
    callTool({ name }) {
      if (!names.includes(name)) throw invalidParams(`Unknown tool: ${name}`);
      if (name !== 'grow') return said(`I am ${name}.`);
      const added = `sapling_${names.length - 4}`;
      names.push(added);
      for (const listener of listeners) listener();
      return said(added);
    },
  };
}
