// Closed-loop load on one MCP endpoint over HTTP. The job comes as JSON on stdin, the figures go to stdout as one
// line of JSON; a first request that fails ends it with the reason on stderr.
import { text } from 'node:stream/consumers';
import { closedLoop } from './harness/closed-loop.mjs';
import { openClient } from './harness/mcp-client.mjs';

const job = JSON.parse(await text(process.stdin));
const client = openClient(job);
await client.initialize();
const act = actionOf(job);

const first = await act();
if (!first.good) {
  console.error(`the first ${job.kind} went wrong: ${first.why}`);
  process.exit(1);
}
for (let i = 0; i < job.warm; i++) await act();
const figures = await closedLoop(act, job);
await client.end();
console.log(JSON.stringify(figures));
process.exit(0);

function actionOf({ kind, tool, bytes, tools }) {
  switch (kind) {
    case 'call':
      return callTool(tool, 'x'.repeat(bytes));
    case 'list':
      return listTools(tools);
    case 'ping':
      return () => timed('ping', {}, (reply) => reply?.result !== undefined);
    default:
      throw new Error(`unknown kind of load: ${kind}`);
  }
}

function callTool(name, message) {
  const params = { name, arguments: { message } };
  const isEcho = (reply) => reply?.result && !reply.result.isError && JSON.stringify(reply.result).includes(message);
  return () => timed('tools/call', params, isEcho);
}

function listTools(count) {
  return async () => {
    const outcome = await timed('tools/list', {}, (reply) => reply?.result?.tools?.length === count);
    // What the client then makes of a long list is not the hub's time.
    return { ...outcome, ms: outcome.arrivedMs };
  };
}

async function timed(method, params, isGood) {
  const begin = process.hrtime.bigint();
  const { status, reply, arrivedAt } = await client.request(method, params);
  const ms = Number(process.hrtime.bigint() - begin) / 1e6;
  const arrivedMs = Number(arrivedAt - begin) / 1e6;
  const good = Boolean(isGood(reply));
  return good ? { ms, arrivedMs, good } : { ms, arrivedMs, good, why: whyNot(status, reply) };
}

function whyNot(status, reply) {
  return `HTTP ${status} ${JSON.stringify(reply)?.slice(0, 300) ?? 'without a reply'}`;
}
