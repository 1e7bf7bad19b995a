// The hub inside this very process: no HTTP, no token, the same policy and ledger. Jobs come as lines of JSON on
// stdin, figures go to stdout line by line; it ends with its stdin.
// usage: node load-library.mjs INDEX_OF_THE_LIBRARY WORKSPACE TOOLS
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import { closedLoop } from './harness/closed-loop.mjs';

const [library, workspace, expected] = process.argv.slice(2);
const { createHub } = await import(pathToFileURL(library));
const hub = await createHub({ workspace, trust: 'all' });
const agent = hub.agent('bench');
const { length } = await agent.tools();
if (length !== Number(expected)) throw new Error(`the agent has ${length} tools, not ${expected}`);
console.log(JSON.stringify({ ready: true }));

for await (const line of createInterface({ input: process.stdin })) {
  console.log(JSON.stringify(await work(JSON.parse(line)).catch((error) => ({ error: String(error) }))));
}
await hub.close();

async function work(job) {
  const message = 'x'.repeat(job.bytes);
  const act = () => call(job.tool, message);
  const first = await act();
  if (!first.good) throw new Error(`the first call went wrong: ${first.why}`);
  for (let i = 0; i < job.warm; i++) await act();
  return closedLoop(act, job);
}

async function call(tool, message) {
  const begin = process.hrtime.bigint();
  const result = await agent.call(tool, { message });
  const ms = Number(process.hrtime.bigint() - begin) / 1e6;
  const text = JSON.stringify(result.content);
  return !result.isError && text.includes(message) ? { ms, good: true } : { ms, good: false, why: text.slice(0, 300) };
}
