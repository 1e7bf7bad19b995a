// An upstream over pipes that gets one more tool, and announces it, each time somebody calls its tool `grow`.
// TOOLS in the environment says with how many it begins, `grow` included.
import { createInterface } from 'node:readline';
import { answer, echoTools } from './harness/echo.mjs';

const inputSchema = { type: 'object', properties: {} };
const tools = [...echoTools(Number(process.env.TOOLS ?? 10) - 1), { name: 'grow', inputSchema }];

createInterface({ input: process.stdin })
  .on('line', (line) => {
    if (line.trim() === '') return;
    const message = JSON.parse(line);
    const grows = message.method === 'tools/call' && message.params.name === 'grow';
    if (grows) tools.push({ name: `grown_${tools.length}`, inputSchema });
    const reply = answer(message, tools);
    if (message.method === 'initialize') reply.result.capabilities.tools = { listChanged: true };
    if (reply !== undefined) send(reply);
    if (grows) send({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' });
  })
  .on('close', () => process.exit(0));

function send(message) {
  process.stdout.write(`${JSON.stringify(message)}\n`);
}
