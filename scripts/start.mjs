// `npm start`: the hub on the example team, with a token in hand and things to try.
import { execFile, spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { root } from './root.mjs';
import { build } from './steps.mjs';

const workspace = join(root, 'examples', 'team');
const qm = join(root, 'bin', 'qm');
const usualPort = 4680;
const protocol = '2026-07-28';

await start();

async function start() {
  if (!isBuilt()) {
    console.log('Building …');
    if (!build.run()) {
      process.exitCode = 1;
      return;
    }
  }
  const port = (await isFree(usualPort)) ? usualPort : 0;
  const hub = spawn(
    process.execPath,
    [qm, 'serve', '--json', '--trust', '--workspace', workspace, '--port', String(port)],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  // Ctrl-C reaches both of us; the hub ends first, in its own time. Other signals are ours to hand on.
  process.on('SIGINT', () => {});
  for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => hub.kill(signal));
  const ended = new Promise((resolve) => hub.once('exit', (code) => resolve(code ?? 1)));
  try {
    const url = await firstLine(hub.stdout);
    if (url !== undefined) await show(url);
  } catch (error) {
    console.error(`start: ${error.message}`);
    hub.kill('SIGTERM');
    process.exitCode = 1;
  }
  const code = await ended;
  // Ctrl-C is how it is meant to end.
  process.exitCode ||= code === 130 ? 0 : code;
}

function isBuilt() {
  const main = join(root, 'dist', 'qm', 'main.js');
  return existsSync(main) && statSync(main).mtimeMs > newest(join(root, 'src'));
}

function newest(folder) {
  const entries = readdirSync(folder, { withFileTypes: true });
  const times = entries.map((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return newest(path);
    return entry.name.endsWith('.ts') && !entry.name.endsWith('.test.ts') ? statSync(path).mtimeMs : 0;
  });
  return Math.max(0, ...times);
}

function isFree(port) {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', () => resolve(false));
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)));
  });
}

/** The address in the hub's first line; undefined when it ended without one and has said why. */
function firstLine(stream) {
  return new Promise((resolve) => {
    let text = '';
    stream.on('data', (chunk) => {
      text += chunk;
      if (text.includes('\n')) resolve(JSON.parse(text.slice(0, text.indexOf('\n'))).url);
    });
    stream.once('end', () => resolve(undefined));
  });
}

async function show(url) {
  const token = await tokenFor('tester');
  const list = { method: 'tools/list', params: {} };
  const read = toolCall('files_read_text_file', { path: 'welcome.md' });
  const write = toolCall('files_write_file', { path: 'welcome.md', content: '' });
  const tools = await listUntil(url, token, list, read.params.name);
  const { content } = (await ask(url, token, read)).result;
  const refusal = (await ask(url, token, write)).error;
  const client = { type: 'http', url: `${url}/mcp`, headers: { Authorization: `Bearer ${token}` } };
  const some = tools.slice(0, 2).map((tool) => tool.name);
  console.log(`
Quartermaster serves the example team at ${url}/mcp
Three servers, three agents: examples/team/quartermaster.yaml has the rules.

What the agent "tester" just did:
  list    ${tools.length} tools, such as ${some.join(', ')} …
  read    ${content[0].text.split('\n')[0]}
  write   ${refusal.message.split('. ')[0]} (hidden from this agent)

In another terminal, in examples/team:
  ../../bin/qm tools --agent lead                       # another agent's view
  ../../bin/qm explain files.write_file --agent tester  # which rule decides
  ../../bin/qm call everything.get-sum a=1 b=2 --agent tester
  ../../bin/qm calls                                    # the audit log

For an MCP client of your own, as "tester":
  ${JSON.stringify({ mcpServers: { team: client } })}

Ctrl-C ends the hub and its servers.`);
}

/** The first start of a server may take longer than a list waits for it. */
async function listUntil(url, token, list, name) {
  for (let attempt = 0; attempt < 60; attempt += 1) {
    const { tools } = (await ask(url, token, list)).result;
    if (tools.some((tool) => tool.name === name)) return tools;
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
  throw new Error(`the example has no ${name} after 30 s; see the messages above, and whether \`npm ci\` was run.`);
}

function toolCall(name, args) {
  return { method: 'tools/call', params: { name, arguments: args } };
}

/** One token for all starts, so that a client that was set up once goes on working. */
async function tokenFor(agent) {
  const { folder } = await runQm(['state', 'path']);
  const file = join(folder, `start-token-${agent}`);
  if (existsSync(file)) {
    const kept = readFileSync(file, 'utf8').trim();
    const tokens = await runQm(['token', 'ls']);
    if (tokens.some(({ id, state }) => state === 'valid' && kept.startsWith(`qm_${id}_`))) return kept;
  }
  const { token } = await runQm(['token', 'issue', '--agent', agent]);
  writeFileSync(file, `${token}\n`, { mode: 0o600 });
  return token;
}

async function runQm(args) {
  const all = [qm, ...args, '--json', '--workspace', workspace];
  const { stdout } = await promisify(execFile)(process.execPath, all, { timeout: 30_000 });
  return JSON.parse(stdout);
}

/** Headers and body of one MCP request; this revision needs no handshake. */
function message({ method, params }) {
  const meta = {
    'io.modelcontextprotocol/protocolVersion': protocol,
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const name = params.name === undefined ? {} : { 'Mcp-Name': params.name };
  return {
    headers: {
      'Content-Type': 'application/json',
      Accept: 'application/json, text/event-stream',
      'MCP-Protocol-Version': protocol,
      'Mcp-Method': method,
      ...name,
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { ...params, _meta: meta } }),
  };
}

async function ask(url, token, request) {
  const { headers, body } = message(request);
  const response = await fetch(`${url}/mcp`, {
    method: 'POST',
    headers: { ...headers, Authorization: `Bearer ${token}` },
    body,
    signal: AbortSignal.timeout(30_000),
  });
  return response.json();
}
