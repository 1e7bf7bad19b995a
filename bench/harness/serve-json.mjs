import { createServer } from 'node:http';

/**
 * The smallest HTTP endpoint that a 2025-era MCP client accepts, on a free port of 127.0.0.1. Prints its address
 * as one line of JSON, and ends with its stdin, so that it never outlives whoever started it.
 */
export function serveJson(reply) {
  const server = createServer((request, response) => {
    if (request.method !== 'POST') {
      response.writeHead(405).end();
      return;
    }
    let body = '';
    request
      .setEncoding('utf8')
      .on('data', (chunk) => {
        body += chunk;
      })
      .on('end', async () => {
        const message = JSON.parse(body);
        const answer = await reply(message);
        if (answer === undefined) response.writeHead(202).end();
        else response.writeHead(200, headersFor(message)).end(JSON.stringify(answer));
      });
  });
  server.listen(0, '127.0.0.1', () => {
    console.log(JSON.stringify({ url: `http://127.0.0.1:${server.address().port}/mcp` }));
  });
  process.stdin.resume().on('end', () => process.exit(0));
}

function headersFor({ method }) {
  const session = method === 'initialize' ? { 'mcp-session-id': 'one' } : {};
  return { 'content-type': 'application/json', ...session };
}
