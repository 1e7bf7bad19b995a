import { createRequire } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { Client, SSEClientTransport, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { within } from '../world/within.mjs';
import { capabilities } from './answers.mjs';

const questions = ['elicitation/create', 'sampling/createMessage', 'roots/list'];

/** A client of the SDK's second line, of either era, over /mcp or /sse. */
export async function openSdk(where, { era, sse = false }) {
  const mode = era === 'legacy' ? 'legacy' : { pin: '2026-07-28' };
  const client = new Client(infoOf(where), { capabilities, versionNegotiation: { mode } });
  for (const method of questions) {
    client.setRequestHandler(method, ({ params }) => answered(where.handlers.onRequest(method, params ?? {})));
  }
  const TransportSpec = sse ? SSEClientTransport : StreamableHTTPClientTransport;
  const transport = new TransportSpec(new URL(`${where.origin}/${sse ? 'sse' : 'mcp'}`), tokenOf(where));
  const call = (params, options) => client.callTool(params, options);
  return open({ client, transport, where, call, kind: sse ? 'sdk2-sse' : `sdk2-${era}`, era });
}

/** A client of the SDK's first line, which is still the one that most agents have. */
export async function openFirstSdk(where) {
  const from = createRequire(fileURLToPath(new URL('../../programs/package.json', import.meta.url)));
  const load = (path) => import(pathToFileURL(from.resolve(`@modelcontextprotocol/sdk/${path}`)).href);
  const [{ Client: First }, { StreamableHTTPClientTransport: TransportSpec }, types] = await Promise.all(
    ['client/index.js', 'client/streamableHttp.js', 'types.js'].map(load),
  );
  const client = new First(infoOf(where), { capabilities });
  const schemas = [types.ElicitRequestSchema, types.CreateMessageRequestSchema, types.ListRootsRequestSchema];
  for (const [index, method] of questions.entries()) {
    client.setRequestHandler(schemas[index], ({ params }) => answered(where.handlers.onRequest(method, params ?? {})));
  }
  const transport = new TransportSpec(new URL(`${where.origin}/mcp`), tokenOf(where));
  const call = (params, options) => client.callTool(params, undefined, options);
  return open({ client, transport, where, call, kind: 'sdk1', era: 'legacy' });
}

async function open({ client, transport, where, call, kind, era }) {
  client.onerror = () => {}; // Streams that break are told here, calls that fail are told to their caller.
  client.fallbackNotificationHandler = async (message) => where.handlers.onNotification(message);
  try {
    await within(client.connect(transport), 30_000, 'an SDK client to connect');
  } catch (error) {
    await client.close().catch(() => {});
    return { failed: outcomeOfError(error) };
  }
  const methods = {
    'tools/list': (_, options) => client.listTools(undefined, options),
    'resources/list': (_, options) => client.listResources(undefined, options),
    'prompts/list': (_, options) => client.listPrompts(undefined, options),
    'tools/call': call,
    'resources/read': (params, options) => client.readResource(params, options),
    'resources/subscribe': (params, options) => client.subscribeResource(params, options),
    'resources/unsubscribe': (params, options) => client.unsubscribeResource(params, options),
    'prompts/get': (params, options) => client.getPrompt(params, options),
    'completion/complete': (params, options) => client.complete(params, options),
  };
  return {
    kind,
    era,
    async request(method, params = {}, { timeoutMs = 60_000, signal, onProgress } = {}) {
      const options = { timeout: timeoutMs, maxTotalTimeout: timeoutMs, ...(signal && { signal }) };
      if (onProgress) options.onprogress = onProgress;
      try {
        return { kind: 'result', result: await methods[method](params, options) };
      } catch (error) {
        return signal?.aborted ? { kind: 'cut', words: 'cancelled' } : outcomeOfError(error);
      }
    },
    async close() {
      await transport.terminateSession?.();
      await client.close();
    },
    abandon: () => void client.close().catch(() => {}),
  };
}

/** An answer that is left out never comes. */
async function answered(answer) {
  return (await answer) ?? new Promise(() => {});
}

function outcomeOfError(error) {
  const words = String(error.message).slice(0, 300);
  const status = error.data?.status ?? (error.code > 99 ? error.code : /\bHTTP (\d{3})\b/.exec(words)?.[1]);
  if (/Unauthorized/i.test(`${error.name} ${words}`)) return { kind: 'http', status: 401, words };
  if (status !== undefined) return { kind: 'http', status: Number(status), words };
  // The SDK's own codes for what happened on its side: no answer in time, a closed connection.
  if (error.code === -32001 || error.code === 'REQUEST_TIMEOUT') return { kind: 'silent', words };
  if (typeof error.code === 'number' && error.code !== -32000) {
    return { kind: 'error', code: error.code, name: error.data?.code, words };
  }
  return { kind: 'cut', words: `${error.code ?? error.name}: ${words}` };
}

function infoOf({ name }) {
  return { name: `soak-${name}`, version: '1' };
}

function tokenOf({ token }) {
  return { requestInit: { headers: { Authorization: `Bearer ${token}` } } };
}
