import { ownNames } from '../world/servers.mjs';
import { pause } from '../world/within.mjs';
import { callTool } from './call-tool.mjs';

/** Calls that take a while: slow ones, ones with steps, ones that the client gives up. */
export const longCalls = {
  /** Some take longer than the server's time limit. */
  slow: (world, actor) => {
    const ms = world.dice.between(0, 3000);
    return callTool(world, actor, { kind: 'slow', server: 'slow', tool: 'nap', args: { ms }, expected: ms });
  },

  progress: (world, actor) => {
    const server = world.dice.pick(ownNames);
    const count = world.dice.between(1, 5);
    const nonce = world.nonce(actor);
    const onProgress = ({ progress, message }) => {
      if (message === `${server}:${nonce}:${progress}`) return;
      world.tally.wrong('progress', `${actor.name} ${server} ${nonce} heard ${message}`);
    };
    const call = { kind: 'progress', server, tool: 'steps', args: { count }, nonce, expected: count };
    return callTool(world, actor, { ...call, onProgress });
  },

  /** In each client's own way: a notification, or a closed stream. */
  cancel: async (world, actor) => {
    const { dice } = world;
    const server = dice.pick(['plain', 'large', 'slow', 'asks-modern', 'floods']);
    const given = new AbortController();
    let id;
    const byMessage = actor.client.cancel !== undefined;
    const call = callTool(world, actor, {
      kind: 'cancel',
      server,
      tool: 'nap',
      args: { ms: 1500 },
      expected: 1500,
      lenient: true,
      ...(byMessage ? { onId: (given) => (id = given), timeoutMs: 5000 } : { signal: given.signal }),
    });
    await pause(dice.between(5, 200));
    if (byMessage) await actor.client.cancel(id).catch(() => {});
    else given.abort();
    await call;
  },

  /** The connection breaks while the call is in flight; legacy calls go on without it. */
  cut: async (world, actor) => {
    const { dice } = world;
    const gone = new AbortController();
    const server = dice.pick(['plain', 'large', 'cached', 'garbage']);
    const call = callTool(world, actor, {
      kind: 'cut',
      server,
      tool: 'nap',
      args: { ms: 300 },
      expected: 300,
      lenient: true,
      signal: gone.signal,
      timeoutMs: 5000,
    });
    await pause(dice.between(0, 150));
    gone.abort();
    await call;
  },
};
