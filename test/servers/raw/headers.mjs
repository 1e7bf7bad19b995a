import { codes, failure, versionKey } from './protocol.mjs';

/** What is wrong with the mirrored headers of a modern request, as a JSON-RPC error, or undefined. */
export async function headerProblem(server, headers, message) {
  const meta = message.params?._meta;
  if (message.method === 'initialize' || meta?.[versionKey] === undefined) return undefined;
  const expected = new Map([
    ['mcp-protocol-version', meta[versionKey]],
    ['mcp-method', message.method],
  ]);
  if (message.method === 'tools/call') {
    expected.set('mcp-name', message.params.name);
    for (const [header, value] of await mirrored(server, message.params)) expected.set(header, value);
  }
  if (message.method.startsWith('tasks/')) expected.set('mcp-name', message.params.taskId);
  for (const [header, value] of expected) {
    const got = decode(headers[header]);
    if (got !== value) {
      const words = got === undefined ? 'is missing or unreadable' : `says ${JSON.stringify(got)}`;
      return failure(message.id, codes.headerMismatch, `Header ${header} ${words}, the body ${JSON.stringify(value)}`);
    }
  }
  return undefined;
}

async function mirrored(server, { name, arguments: args = {} }) {
  const { tools } = await server.listTools({});
  const properties = tools.find((tool) => tool.name === name)?.inputSchema?.properties ?? {};
  return Object.entries(properties)
    .filter(([key, schema]) => schema['x-mcp-header'] !== undefined && args[key] !== undefined)
    .map(([key, schema]) => [`mcp-param-${schema['x-mcp-header'].toLowerCase()}`, String(args[key])]);
}

/** Values that are not plain ASCII travel as =?base64?…?=. */
function decode(value) {
  const encoded = /^=\?base64\?(.*)\?=$/.exec(value ?? '')?.[1];
  if (encoded === undefined) return value;
  const bytes = Buffer.from(encoded, 'base64');
  return bytes.toString('base64') === encoded ? bytes.toString('utf8') : undefined;
}
