import { invalidParams } from './answer.mjs';

/**
 * The tools of the echo servers, each of which proves one thing about what reached the upstream.
 *
 * @param {'stdio' | 'http'} transport
 */
export function createEchoServer(name, transport) {
  let count = 0;
  const run = {
    echo: ({ arguments: { message } }) => said(String(message)),
    add: ({ arguments: { a, b } }) => said(String(a + b)),
    slow,
    fail: () => ({ ...said('This tool always fails.'), isError: true }),
    counter: () => {
      count += 1;
      return said(String(count));
    },
    env: ({ arguments: { name: variable } }) => said(process.env[variable] ?? ''),
    meta: ({ meta, http }) => said(JSON.stringify({ _meta: meta, ...http })),
    big: ({ arguments: { bytes } }) => said('x'.repeat(bytes)),
    raw_args: ({ rawArguments }) => said(rawArguments() ?? ''),
  };
  const tools = echoTools.filter((tool) => tool.name !== 'env' || transport === 'stdio');
  return {
    name,
    listTools: () => ({ tools }),
    callTool(call) {
      if (!tools.some((tool) => tool.name === call.name)) throw invalidParams(`Unknown tool: ${call.name}`);
      return run[call.name](call);
    },
  };
}

/** Five equal steps, so that progress can be watched, and an early end when the call is cancelled. */
async function slow({ arguments: { ms }, progress, signal }) {
  const steps = 5;
  for (let step = 1; step <= steps && !signal.aborted; step += 1) {
    // Progress first: a notice right before the answer is lost by clients that drop their handler with the answer.
    progress(step, steps);
    await pause(ms / steps, signal);
  }
  return said(signal.aborted ? 'cancelled' : `waited ${ms} ms`);
}

function pause(ms, signal) {
  return new Promise((resolve) => {
    const timer = setTimeout(finish, ms);
    signal.addEventListener('abort', finish, { once: true });
    function finish() {
      clearTimeout(timer);
      signal.removeEventListener('abort', finish);
      resolve();
    }
  });
}

export function said(text) {
  return { content: [{ type: 'text', text }] };
}

export const echoTools = [
  tool('echo', 'Says what it was told', { message: { type: 'string' } }),
  tool('add', 'Adds two numbers', { a: { type: 'number' }, b: { type: 'number' } }, { readOnlyHint: true }),
  tool('slow', 'Takes its time, with progress, and stops when cancelled', { ms: { type: 'number' } }),
  tool('fail', 'Always fails', {}),
  tool('counter', 'Counts its calls: a repeated call shows', {}),
  tool('env', 'The value of one environment variable of this process', { name: { type: 'string' } }),
  {
    ...tool('meta', 'What came with the request besides its arguments', {}),
    inputSchema: { type: 'object', properties: { region: { type: 'string', 'x-mcp-header': 'Region' } } },
  },
  tool('big', 'A text of that many bytes', { bytes: { type: 'integer' } }),
  tool('raw_args', 'The arguments exactly as they came over the wire', {}),
];

function tool(name, description, properties, annotations) {
  const inputSchema = { type: 'object', properties, required: Object.keys(properties) };
  return annotations === undefined
    ? { name, description, inputSchema }
    : { name, description, inputSchema, annotations };
}
