import { exposed } from '../world/agents.mjs';

/**
 * Calls a tool with a nonce of its own, and has the answer judged. `expected` is the text of a right answer, made from
 * the nonce.
 */
export async function callTool(world, actor, { kind, server, tool, args = {}, expected, nonce, ...options }) {
  const call = {
    kind,
    actor,
    server,
    tool,
    nonce: nonce ?? world.nonce(actor),
    began: performance.now(),
    lenient: options.lenient,
  };
  const params = { name: exposed(server, tool), arguments: { nonce: call.nonce, ...args } };
  world.tally.done(kind);
  const outcome = await actor.request('tools/call', params, options);
  world.judge.judgeCall({ ...call, expected: `${server}:${call.nonce}:${expected}` }, outcome);
  return outcome;
}
