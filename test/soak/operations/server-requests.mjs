import { callTool } from './call-tool.mjs';

const tools = ['ask_form', 'ask_sampling', 'ask_roots', 'ask_twice'];

/** Calls in which the server asks the client something. */
export const questions = {
  ask: async (world, actor) => {
    const server = world.dice.pick(['asks', 'asks-modern', 'own']);
    const tool = world.dice.pick(tools);
    const nonce = world.nonce(actor);
    actor.asking.add(nonce);
    await callTool(world, actor, {
      kind: 'ask',
      server,
      tool,
      nonce,
      expected: answerOf(actor.name, server, tool, nonce),
    });
    actor.asking.delete(nonce);
  },
};

/** What the server says after it has read the answers. */
function answerOf(name, server, tool, nonce) {
  const sign = `${server}:${nonce}`;
  switch (tool) {
    case 'ask_form':
      return `accept:${name} read ${sign}:form`;
    case 'ask_sampling':
      return `${name}:${name} read ${sign}:sampling`;
    case 'ask_roots':
      // It is no folder of the workspace, so the hub drops it.
      return '';
    default:
      return `accept:${name} read ${sign}:second after accept:${name} read ${sign}:first`;
  }
}
