/**
 * The client that the conformance suite tests: a hub as its users run it, from the build, with the suite's server as
 * its only upstream, and behind it a client of the SDK that does what each scenario wants to see.
 *
 *   node drive-hub.mjs legacy|modern URL
 *
 * The first argument is the era of the client towards the hub; towards the server the hub finds the era itself. The
 * suite appends the address, and names in MCP_CONFORMANCE_CONTEXT the calls that it wants instead of one per tool.
 */
import { execFile, spawn } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { trustFolder } from '../support/trust-folder.mjs';

const simplest = { string: 'text', integer: 1, number: 1.5, boolean: true, object: {}, array: [] };
/** Scenarios whose server answers no call. */
const onlyLists = new Set(['json-schema-ref-no-deref']);
/** The suite waits for the end of this program, whatever its own timeout says. */
const callMs = 10_000;
const bin = join(import.meta.dirname, '..', '..', 'bin', 'qm');
const [era, upstream] = process.argv.slice(2);
const { toolCalls } = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? '{}');

const place = await mkdtemp(join(tmpdir(), 'qm-driven-'));
const workspace = join(place, 'team');
const env = { ...process.env, QM_STATE_DIR: join(place, 'state'), XDG_CONFIG_HOME: join(place, 'config') };
try {
  await mkdir(workspace);
  trustFolder(env.XDG_CONFIG_HOME, place);
  // On a shared connection nobody could tell whom a legacy server asks, so there it may not ask at all.
  const suite = { url: upstream, isolation: 'per-session', roots: 'client' };
  const config = { naming: 'preserved', servers: { suite } };
  await writeFile(join(workspace, 'quartermaster.yaml'), JSON.stringify(config));
  const { token } = await qm('token', 'issue', '--agent', 'tester');
  // A client's first list waits two seconds for a server that nobody has seen; on a busy machine that may be too short.
  await qm('tools', '--agent', 'tester');
  const hub = await serve();
  try {
    await useEverything(`${hub.url}/mcp`, token);
  } finally {
    await hub.stop();
  }
} finally {
  await rm(place, { recursive: true, force: true, maxRetries: 3 });
}

async function qm(...args) {
  const { stdout } = await promisify(execFile)(process.execPath, [bin, ...args, '--json', '--workspace', workspace], {
    env,
  });
  return JSON.parse(stdout);
}

async function serve() {
  const args = [bin, 'serve', '--port', '0', '--json', '--workspace', workspace];
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  const line = await new Promise((resolve, reject) => {
    createInterface({ input: child.stdout }).once('line', resolve);
    void ended.then((code) => reject(new Error(`qm serve ended with ${code}`)));
  });
  return {
    url: JSON.parse(line).url,
    stop() {
      child.kill('SIGTERM');
      return ended;
    },
  };
}

async function useEverything(url, token) {
  const client = new Client(
    { name: 'drive-hub', version: '1' },
    {
      capabilities: { elicitation: {} },
      versionNegotiation: { mode: era === 'modern' ? { pin: '2026-07-28' } : 'legacy' },
    },
  );
  client.setRequestHandler('elicitation/create', ({ params }) => ({
    action: 'accept',
    content: filledIn(params.requestedSchema),
  }));
  const requestInit = { headers: { Authorization: `Bearer ${token}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }));
  try {
    // As the hub lists them: the client's own `listTools` would leave out what the hub should have.
    const { tools } = await client.request({ method: 'tools/list', params: {} });
    if (onlyLists.has(process.env.MCP_CONFORMANCE_SCENARIO)) return;
    for (const { name, arguments: args } of toolCalls ?? tools.map((tool) => callOf(tool, tools))) {
      const toolDefinition = tools.find((tool) => tool.name === name);
      await client.callTool({ name, arguments: args }, { toolDefinition, timeout: callMs }).catch(fail);
    }
    for (const { uri } of (await client.listResources()).resources) await client.readResource({ uri }).catch(fail);
    for (const { name } of (await client.listPrompts()).prompts) await client.getPrompt({ name }).catch(fail);
  } finally {
    await client.close();
  }
}

/** The other calls are still wanted: the suite judges each of them. */
function fail(error) {
  console.error(error);
  process.exitCode = 1;
}

/** A scenario about schemas wants one tool's schema as the argument of another. */
function callOf({ name, inputSchema }, tools) {
  const [first] = tools;
  return { name, arguments: name === 'json_schema_echo' ? { schema: first.inputSchema } : filledIn(inputSchema) };
}

/** A value for each property that has a plain type: its default, or the simplest there is. */
function filledIn({ properties = {} }) {
  const entries = Object.entries(properties).map(([key, schema]) => [key, schema.default ?? simplest[schema.type]]);
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined));
}
