import { bigText } from '../upstream/big-text.mjs';
import { ownNames } from '../world/servers.mjs';
import { callTool } from './call-tool.mjs';

const odd = ['', 'plain', 'Grüße, Жизнь, 日本語, 🧪', '"quotes" \\ and \u2028 lines\n', '</script>'];

/** Calls that are answered at once. Servers are those of every agent: what it may not use must be refused. */
export const plainCalls = {
  echo: (world, actor) => echo(world, actor, world.dice.pick(ownNames)),

  /** Not to be repeated, whatever happens. */
  write: (world, actor) =>
    callTool(world, actor, { kind: 'write', server: world.dice.pick(ownNames), tool: 'write', expected: 'write' }),

  burst: (world, actor) => {
    const server = world.dice.pick(ownNames);
    return Promise.all(Array.from({ length: 12 }, () => echo(world, actor, server, 'burst')));
  },

  'large result': (world, actor) => {
    const { dice } = world;
    const server = dice.chance(0.8) ? 'large' : dice.pick(ownNames);
    const bytes = Math.floor(2 ** (10 + dice.next() * (server === 'large' ? 11.5 : 8)));
    const nonce = world.nonce(actor);
    // The whole text is its own signature.
    const expected = bigText(server, nonce, bytes).slice(`${server}:${nonce}:`.length);
    return callTool(world, actor, { kind: 'large result', server, tool: 'big', args: { bytes }, nonce, expected });
  },

  'large arguments': (world, actor) => {
    const text = 'Ä-'.repeat(world.dice.between(10_000, 60_000));
    return echo(world, actor, world.dice.pick(['plain', 'large', 'cached']), 'large arguments', text);
  },

  /** Of few keys, so that many are answered by what is cached. */
  cached: (world, actor) => {
    const nonce = `key-${world.dice.between(1, 20)}`;
    const call = { kind: 'cached', server: 'cached', tool: 'lookup', nonce, expected: 'found' };
    return callTool(world, actor, call);
  },

  /** Where connections are isolated, the server never hears of anybody else. */
  isolated: (world, actor) => {
    const server = world.dice.pick(['asks', 'own']);
    const owner = actor.ownerOn(server);
    return callTool(world, actor, { kind: 'isolated', server, tool: 'mine', args: { owner }, expected: owner });
  },

  guest: (world, actor) => echo(world, actor, 'guest', 'guest'),
};

function echo(world, actor, server, kind = 'echo', text = world.dice.pick(odd)) {
  return callTool(world, actor, { kind, server, tool: 'echo', args: { text }, expected: text });
}
