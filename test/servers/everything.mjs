/**
 * The server that the MCP conformance suite expects: every tool, resource and prompt it asks for, in both eras.
 *
 *   node everything.mjs --http PORT     (0 takes a free port; prints {"url"} once it listens)
 *   node everything.mjs --stdio
 */
import { parseArgs } from 'node:util';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { createFactory } from './everything/factory.mjs';
import { serveHttp } from './everything/serve-http.mjs';

const { values } = parseArgs({
  options: { http: { type: 'string' }, port: { type: 'string' }, stdio: { type: 'boolean', default: false } },
});

if (values.stdio) {
  const { factory } = createFactory({ keepInstances: true });
  serveStdio(factory);
} else {
  await serveHttp(Number(values.port ?? values.http ?? 0));
}
