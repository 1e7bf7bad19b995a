/**
 * Hosted services as a client meets them, each below its own name:
 *
 *   node providers.mjs [--port N]          http://127.0.0.1:N/notion/mcp, …/github/mcp/, …/confluence/v2/mcp
 *
 * The token says what happens to it, by its first word: accepted, unlicensed (403), busy (429), down (503), moved (only the
 * transport of 2024 answers, where the service has it). Every other one, and none, is 401 with the way to a login.
 */
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { parseArgs } from 'node:util';
import { answer } from './raw/answer.mjs';
import { said } from './raw/echo-tools.mjs';
import { listen, openSse, readBody, sendJson, sendText, writeSse } from './raw/http.mjs';

const { values } = parseArgs({ options: { port: { type: 'string', default: '0' } } });

const chat = ['send_message', 'list_channels', 'search_messages', 'delete_channel'];

const providers = {
  notion: { path: '/mcp', sse: '/sse', tools: () => ['notion-search', 'notion-fetch', 'notion-create-pages'] },
  // With a project there is nothing to say about others.
  supabase: {
    path: '/mcp',
    tools: (query) => [...(query.has('project_ref') ? [] : ['list_projects']), 'list_tables', 'execute_sql'],
  },
  github: { path: '/mcp/', tools: () => ['issue_read', 'issue_write', 'create_pull_request', 'merge_pull_request'] },
  linear: { path: '/mcp', tools: () => ['list_issues', 'get_issue', 'save_issue'] },
  // A hub wants the whole list; others are given the means to look for tools.
  confluence: {
    path: '/v2/mcp',
    tools: (query) =>
      query.get('tools') === 'all'
        ? ['searchConfluence', 'getConfluenceContent', 'createConfluenceContent', 'createJiraIssue']
        : ['discover', 'execute'],
  },
  trello: { path: '/mcp', tools: () => ['list_boards', 'list_cards', 'create_card', 'move_card', 'delete_board'] },
  slack: { path: '/mcp', tools: () => chat },
  discord: { path: '/mcp', tools: () => chat },
};

const refusals = {
  unlicensed: (res) => sendJson(res, 403, { error: 'this account has no licence for it' }),
  busy: (res) => sendJson(res, 429, { error: 'too many requests' }, { 'retry-after': '7' }),
  down: (res) => sendText(res, 503, 'Service Unavailable', { 'content-type': 'text/plain' }),
};

const streams = new Map();

const http = createServer((req, res) => {
  receive(req, res).catch((error) => {
    process.stderr.write(`${error.stack}\n`);
    res.destroy();
  });
});
await listen(http, Number(values.port), '');

async function receive(req, res) {
  const { pathname, searchParams } = new URL(req.url, 'http://127.0.0.1');
  const text = await readBody(req);
  const [, name = '', rest = ''] = /^\/([^/]+)(\/.*)$/.exec(pathname) ?? [];
  if (name === '.well-known') sendJson(res, 200, metadata(req, pathname));
  else if (Object.hasOwn(providers, name))
    await serve(providers[name], { req, res, text, rest, query: searchParams, name });
  else sendText(res, 404, 'Not found', {});
}

async function serve(provider, { req, res, text, rest, query, name }) {
  const word = /^Bearer ([a-z]+)-/.exec(req.headers.authorization ?? '')?.[1];
  const isMoved = word === 'moved' && provider.sse !== undefined;
  if (refusals[word] !== undefined) refusals[word](res);
  else if (word !== 'accepted' && !isMoved) refuse(req, res, name, provider.path);
  else if (isMoved && rest === provider.sse && req.method === 'GET') openStream(res, name, provider);
  else if (isMoved && rest === '/messages') await receiveMessage(streams.get(query.get('session')), res, text);
  else if (isMoved || rest !== provider.path) sendText(res, 404, 'Not found', {});
  else if (req.method !== 'POST') res.writeHead(405, { allow: 'POST' }).end();
  else await respond(serverOf(provider, query), res, text);
}

/** As RFC 9728 has it, and the protocol asks for. */
function refuse(req, res, name, path) {
  const at = `http://${req.headers.host}/.well-known/oauth-protected-resource/${name}${path}`;
  const error = req.headers.authorization === undefined ? '' : ', error="invalid_token"';
  const challenge = `Bearer resource_metadata="${at}"${error}`;
  sendJson(res, 401, { error: 'invalid_token' }, { 'www-authenticate': challenge });
}

function metadata(req, pathname) {
  const origin = `http://${req.headers.host}`;
  return {
    resource: origin + pathname.replace('/.well-known/oauth-protected-resource', ''),
    authorization_servers: [origin],
  };
}

async function respond(server, res, text) {
  const message = JSON.parse(text);
  if (message.id === undefined) {
    res.writeHead(202).end();
    return;
  }
  sendJson(
    res,
    200,
    await answer(server, 'legacy', text, message, { send() {}, signal: new AbortController().signal }),
  );
}

function openStream(res, name, provider) {
  const id = randomUUID();
  streams.set(id, { stream: res, server: serverOf(provider, new URLSearchParams()) });
  res.on('close', () => streams.delete(id));
  openSse(res);
  res.write(`event: endpoint\ndata: /${name}/messages?session=${id}\n\n`);
}

async function receiveMessage(session, res, text) {
  if (session === undefined) {
    sendText(res, 404, 'Could not find session', {});
    return;
  }
  sendText(res, 202, 'Accepted', {});
  const message = JSON.parse(text);
  if (message.id === undefined) return;
  const io = { send() {}, signal: new AbortController().signal };
  writeSse(session.stream, await answer(session.server, 'legacy', text, message, io));
}

function serverOf(provider, query) {
  const tools = provider
    .tools(query)
    .map((tool) => ({ name: tool, description: tool, inputSchema: { type: 'object' } }));
  return { name: 'provider', listTools: () => ({ tools }), callTool: ({ name }) => said(name) };
}
