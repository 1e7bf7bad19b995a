/** What both upstreams answer. */

export function echoTools(count) {
  return Array.from({ length: count }, (_, index) => ({
    name: index === 0 ? 'echo' : `tool_${index}`,
    description: `Echo variant ${index}`,
    inputSchema: { type: 'object', properties: { message: { type: 'string' } }, required: ['message'] },
    annotations: { readOnlyHint: true },
  }));
}

/** The reply to a message; undefined for a notification, which gets none. */
export function answer({ id, method, params }, tools) {
  if (id === undefined) return undefined;
  const result = resultOf(method, params, tools);
  if (result !== undefined) return { jsonrpc: '2.0', id, result };
  return { jsonrpc: '2.0', id, error: { code: -32601, message: 'Method not found' } };
}

function resultOf(method, params, tools) {
  switch (method) {
    case 'initialize':
      return {
        protocolVersion: params?.protocolVersion ?? '2025-06-18',
        capabilities: { tools: {} },
        serverInfo: { name: 'bench-echo', version: '1.0.0' },
      };
    case 'ping':
      return {};
    case 'tools/list':
      return { tools };
    case 'tools/call':
      return { content: [{ type: 'text', text: String(params?.arguments?.message ?? '') }] };
    default:
      return undefined;
  }
}
