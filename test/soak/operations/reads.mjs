import { exposed } from '../world/agents.mjs';
import { ownNames } from '../world/servers.mjs';
import { within } from '../world/within.mjs';
import { callTool } from './call-tool.mjs';

const lists = [
  ['tools', 'tools/list', ({ name }) => name],
  ['resources', 'resources/list', ({ uri }) => uri],
  ['prompts', 'prompts/list', ({ name }) => name],
];

/** Lists, resources, prompts, completions and subscriptions. */
export const readings = {
  list: async (world, actor) => {
    const [what, method, nameOf] = world.dice.pick(lists);
    const began = performance.now();
    const check = (result) => listProblem(world, actor, what, result[what].map(nameOf), began);
    await other(world, { kind: 'list', actor, server: what, check }, method, {});
  },

  read: async (world, actor) => {
    const { dice } = world;
    const server = dice.pick(ownNames);
    const name = dice.pick(['note', 'page', 'private']);
    const page = dice.between(1, 1_000_000);
    const uri = name === 'page' ? `memo://${server}/topic/${page}` : `memo://${server}/${name}`;
    const expected = name === 'page' ? `${server}:topic:${page}` : `${server}:${name}`;
    const refused = !world.configuration.mayRead(actor.agent, server, name);
    const check = ({ contents }) => differs(contents?.[0]?.text, expected);
    await other(world, { kind: 'read', actor, server, check, refused }, 'resources/read', { uri });
  },

  prompt: async (world, actor) => {
    const server = world.dice.pick(ownNames);
    const nonce = world.nonce(actor);
    const params = { name: exposed(server, 'greet'), arguments: { nonce, who: actor.name } };
    const check = ({ messages }) => differs(messages?.[0]?.content?.text, `${server}:${nonce}:${actor.name}`);
    const refused = !world.configuration.mayPrompt(actor.agent, server);
    await other(world, { kind: 'prompt', actor, server, check, refused }, 'prompts/get', params);
  },

  complete: async (world, actor) => {
    const server = world.dice.pick(ownNames);
    const value = world.nonce(actor);
    const ref = { type: 'ref/prompt', name: exposed(server, 'greet') };
    const expected = [`${value}-${server}-Ada`, `${value}-${server}-Grace`].join();
    const check = ({ completion }) => differs(completion?.values?.join(), expected);
    const refused = !world.configuration.mayPrompt(actor.agent, server);
    const params = { ref, argument: { name: 'who', value } };
    await other(world, { kind: 'complete', actor, server, check, refused }, 'completion/complete', params);
  },

  /** Watches a page that nobody else does, has it changed, and waits to hear of it. */
  subscribe: async (world, actor) => {
    if (actor.client.era !== 'legacy') return readings.read(world, actor);
    const server = world.dice.pick(['plain', 'floods', 'garbage', 'cached']);
    if (!world.configuration.mayRead(actor.agent, server, 'page')) return undefined;
    const uri = `memo://${server}/watched/${world.nonce(actor)}`;
    const began = performance.now();
    const heard = new Promise((resolve) => actor.updates.set(uri, resolve));
    const asked = await other(
      world,
      { kind: 'subscribe', actor, server, check: () => undefined },
      'resources/subscribe',
      {
        uri,
      },
    );
    if (asked.kind === 'result') {
      const touch = { kind: 'touch', server, tool: 'touch', args: { uri }, expected: 'touched' };
      const touched = await callTool(world, actor, touch);
      const isHeard = await within(heard, 15_000, 'an update').then(
        () => true,
        () => false,
      );
      const mayBeMissed = actor.doomed || world.troubles.mayMissUpdates(server, began - 1000, performance.now());
      if (touched.kind === 'result' && !isHeard && !mayBeMissed) {
        world.tally.lost('subscribe', `${actor.name} (${actor.client.kind}) was not told of ${uri}`);
      }
      if (!actor.doomed) await actor.request('resources/unsubscribe', { uri });
    }
    actor.updates.delete(uri);
    return undefined;
  },

  /** The built-in server, which has no nonce to give back: it looks for one, and finds nothing. */
  git: async (world, actor) => {
    const nonce = world.nonce(actor);
    const params = { name: 'git_search', arguments: { query: nonce } };
    const refused = ![...world.configuration.decisions(actor.agent, 'git', 'git_search', 0, 0)].includes('allow');
    const check = ({ content, isError }) =>
      isError || content?.[0]?.text !== 'No matches.' ? `it says ${JSON.stringify(content)}` : undefined;
    await other(world, { kind: 'git', actor, server: 'git', check, refused }, 'tools/call', params);
  },
};

async function other(world, operation, method, params) {
  const began = performance.now();
  world.tally.done(operation.kind);
  const outcome = await operation.actor.request(method, params);
  world.judge.judgeOther({ ...operation, began }, outcome);
  return outcome;
}

function differs(actual, expected) {
  return actual === expected
    ? undefined
    : `it says ${JSON.stringify(actual)} and should say ${JSON.stringify(expected)}`;
}

function listProblem(world, actor, what, names, began) {
  const { may, must } = world.configuration.lists(actor.agent, what, began, performance.now());
  const mayMiss = world.troubles.isCut(began, performance.now());
  const tooMany = names.filter((name) => !may.has(name) && name !== 'quartermaster_status');
  const missing = mayMiss ? [] : must.filter((name) => !names.includes(name));
  if (tooMany.length === 0 && missing.length === 0) return undefined;
  return `${what}: not to be seen ${tooMany.join(' ') || '-'}; missing ${missing.join(' ') || '-'}`;
}
