// The upstream over pipes: as little server as MCP allows, so that it is never the bottleneck.
// TOOLS in the environment says how many tools it has; the first is called echo.
import { createInterface } from 'node:readline';
import { answer, echoTools } from './harness/echo.mjs';

const tools = echoTools(Number(process.env.TOOLS ?? 10));

createInterface({ input: process.stdin })
  .on('line', (line) => {
    if (line.trim() === '') return;
    const reply = answer(JSON.parse(line), tools);
    if (reply !== undefined) process.stdout.write(`${JSON.stringify(reply)}\n`);
  })
  .on('close', () => process.exit(0));
