/**
 * A client that calls one tool of a hub and prints the answer, as the agent whose token is in $TOKEN and in the run $RUN:
 *
 *   node call-once.mjs URL TOOL ARGUMENTS
 */
const [url, name, args] = process.argv.slice(2);
const meta = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
};
const params = { name, arguments: JSON.parse(args), _meta: meta };
const response = await fetch(url, {
  method: 'POST',
  headers: {
    Authorization: `Bearer ${process.env.TOKEN}`,
    'Content-Type': 'application/json',
    Accept: 'application/json, text/event-stream',
    'MCP-Protocol-Version': '2026-07-28',
    'Mcp-Method': 'tools/call',
    'Mcp-Name': name,
    'X-Quartermaster-Run': process.env.RUN,
  },
  body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
});
console.log(await response.text());
