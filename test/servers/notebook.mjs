/**
 * A server of one era with one page. Each answer says who gave it and how many there were, so that one that was given
 * twice shows.
 *
 *   node notebook.mjs --era legacy|modern --http PORT     (0, the default, takes a free port; prints {"url"})
 *   node notebook.mjs --era legacy|modern --stdio
 */
import { parseArgs } from 'node:util';
import { McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { createBoard } from './matrix/board.mjs';
import { serveLegacyHttp, serveLegacyStdio, serveModernHttp, serveModernStdio } from './matrix/serve.mjs';

const { values } = parseArgs({
  options: {
    era: { type: 'string' },
    http: { type: 'string' },
    port: { type: 'string' },
    stdio: { type: 'boolean', default: false },
  },
});
const { era } = values;
if (era !== 'legacy' && era !== 'modern') throw new Error('notebook.mjs needs --era legacy or --era modern.');

const uri = 'note://page';
const reads = { annotations: { readOnlyHint: true } };
const board = createBoard('notebook');
let page = 'blank';
let answers = 0;

function make({ keep }) {
  const capabilities = { tools: { listChanged: true }, resources: { subscribe: true, listChanged: true } };
  const server = new McpServer({ name: 'notebook', version: '1.0.0' }, { capabilities });
  server.registerTool('look', { ...reads, inputSchema: z.object({ at: z.string() }) }, ({ at }) => said(at));
  server.registerTool('torn', { ...reads, description: 'Fails the first time' }, () => ({
    ...said('torn'),
    ...(answers === 1 && { isError: true }),
  }));
  server.registerTool('write', { inputSchema: z.object({ text: z.string() }) }, ({ text }) => {
    page = text;
    return said('write');
  });
  // What these do happens to a server without anybody writing through the hub.
  server.registerTool('wind', { ...reads, description: 'Turns the page' }, async () => {
    await board.touch(uri);
    return said('wind');
  });
  server.registerTool('seed', { ...reads, description: 'Grows a tool' }, () => {
    board.grow('tool', 'grown');
    return said('seed');
  });
  server.registerResource('page', uri, { mimeType: 'text/plain', cacheHint: { ttlMs: 30_000 } }, () => ({
    contents: [{ uri, mimeType: 'text/plain', text: words('page') }],
  }));
  board.attach(server, { era, keep });
  return server;
}

function said(what) {
  return { content: [{ type: 'text', text: words(what) }] };
}

function words(what) {
  answers++;
  return `${what}: ${page} (${process.pid}, ${answers})`;
}

const made = { make, board };
const port = Number(values.port ?? values.http ?? 0);
if (values.stdio) await (era === 'legacy' ? serveLegacyStdio(made) : serveModernStdio(made));
else await (era === 'legacy' ? serveLegacyHttp(made, port) : serveModernHttp(made, port));
