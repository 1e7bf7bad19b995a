import { pause } from '../world/within.mjs';
import { callTool } from './call-tool.mjs';

const kinds = ['raw-legacy', 'raw-modern', 'sse'];

/**
 * Clients that come, ask something and leave without a word: a session without its end, a question without its answer.
 * They have a token of their own, for what they leave open counts against it.
 */
export const leftClients = {
  'left session': (world) =>
    visit(world, (actor) =>
      callTool(world, actor, {
        kind: 'left session',
        server: 'plain',
        tool: 'write',
        expected: 'write',
        lenient: true,
      }),
    ),

  'left question': (world) =>
    visit(world, async (actor) => {
      actor.mute = true;
      const server = world.dice.pick(['asks', 'asks-modern', 'own']);
      const nonce = world.nonce(actor);
      actor.asking.add(nonce);
      const call = { kind: 'left question', server, tool: 'ask_form', nonce, expected: 'never', lenient: true };
      const asked = callTool(world, actor, { ...call, timeoutMs: 3000 });
      await Promise.race([asked, pause(world.dice.between(200, 2000))]);
      return asked;
    }),
};

const usesOfToken = 20;

async function visit(world, act) {
  if (world.tokens.of('leaver').uses++ === usesOfToken) await world.tokens.rotate('lead', { slot: 'leaver' });
  const token = world.tokens.of('leaver');
  const actor = await world.population.open({ agent: 'lead', kind: world.dice.pick(kinds) }, token);
  if (actor === undefined) return;
  const done = act(actor);
  if (world.dice.chance(0.5)) await done;
  actor.doomed = true;
  actor.client.abandon();
  await done;
}
