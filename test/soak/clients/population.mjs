import { isClosedUnused } from '../operations/judge.mjs';
import { agentNames } from '../world/agents.mjs';
import { bin } from '../world/hub.mjs';
import { createActor } from './actor.mjs';
import { openRawLegacy } from './raw-legacy.mjs';
import { openRawModern } from './raw-modern.mjs';
import { openFirstSdk, openSdk } from './sdk.mjs';
import { openSse } from './sse.mjs';
import { openStdio } from './stdio.mjs';

const openers = {
  'raw-legacy': openRawLegacy,
  'raw-modern': async (where) => openRawModern(where),
  sse: openSse,
  'sdk2-legacy': (where) => openSdk(where, { era: 'legacy' }),
  'sdk2-modern': (where) => openSdk(where, { era: 'modern' }),
  'sdk2-sse': (where) => openSdk(where, { era: 'legacy', sse: true }),
  sdk1: openFirstSdk,
  stdio: openStdio,
};
const kinds = ['raw-legacy', 'raw-modern', 'sdk2-modern', 'sse', 'sdk1', 'raw-modern', 'sdk2-legacy', 'sdk2-sse'];
const perAgent = 4;

/** The clients of all agents: each lives for some operations, then leaves in one way or another and is replaced. */
export function createPopulation(world) {
  const { dice, tally, tokens } = world;
  const slots = agentNames.flatMap((agent, index) =>
    Array.from({ length: perAgent }, (_, slot) => ({
      agent,
      kind: kinds[(index * perAgent + slot + index) % kinds.length],
    })),
  );
  slots.push({ agent: 'tester', kind: 'stdio' });
  let count = 0;
  let closed = false;
  const inFlight = new Set();

  async function open(slot, token = tokens.of(slot.agent)) {
    const name = `${slot.agent}-${++count}`;
    const actor = createActor({ name, agent: slot.agent, token, tally });
    const where = { origin: world.origin, token: token.token, name, handlers: actor.handlers, dice: dice.fork() };
    const process = { bin, folder: world.workspace.folder, env: world.hub.env, agent: slot.agent, run: `soak-${name}` };
    const client = await openers[slot.kind]({ ...where, ...process });
    if (client.failed === undefined) {
      actor.client = client;
      actor.operationsLeft = dice.between(30, 300);
      return actor;
    }
    // A token that was replaced meanwhile is a reason, anything else is not.
    const isReplaced = tokens.of(slot.agent) !== token && client.failed.status === 401;
    if (isClosedUnused(client.failed)) tally.failed('connect', slot.kind, 'HTTP 408');
    else if (!isReplaced && !closed) tally.lost('connect', `${name} (${slot.kind}): ${JSON.stringify(client.failed)}`);
    return undefined;
  }

  function fill(slot) {
    slot.actor = undefined;
    slot.isFilling = true;
    const filled = connect(slot).finally(() => {
      slot.isFilling = false;
      inFlight.delete(filled);
    });
    inFlight.add(filled);
    return filled;
  }

  async function connect(slot) {
    tally.done('connect');
    const actor = await open(slot).catch((error) => void tally.lost('connect', `${slot.kind}: ${error.stack}`));
    if (actor !== undefined) tally.right('connect');
    if (closed) actor?.client.abandon();
    else slot.actor = actor;
  }

  async function leave(actor, politely) {
    if (politely) await until(() => actor.busy === 0 || closed, 65_000);
    actor.doomed = true;
    tally.done(politely ? 'close' : 'abandon');
    try {
      if (politely) await actor.client.close();
      else actor.client.abandon();
      tally.right(politely ? 'close' : 'abandon');
    } catch (error) {
      tally.lost('close', `${actor.name} (${actor.client.kind}): ${error.message}`);
    }
  }

  /** The client goes, and another one takes its place. */
  function replace(slot, politely) {
    const { actor } = slot;
    const gone = Promise.all([leave(actor, politely), fill(slot)]).finally(() => inFlight.delete(gone));
    inFlight.add(gone);
  }

  return {
    slots,
    open,
    replace,
    fillAll: () => Promise.all(slots.map(fill)),
    /** A client at random; one that has lived long enough goes. */
    take() {
      const slot = dice.pick(slots);
      const { actor } = slot;
      if (actor === undefined) {
        if (!slot.isFilling) void fill(slot);
        return undefined;
      }
      if (actor.operationsLeft-- <= 0) replace(slot, dice.chance(0.6));
      return actor;
    },
    /** Clients of a token that is about to be revoked. */
    doom(token) {
      for (const slot of slots) {
        if (slot.actor?.token !== token || slot.kind === 'stdio') continue;
        slot.actor.doomed = true;
        replace(slot, false);
      }
    },
    async closeAll() {
      closed = true;
      await Promise.all(slots.flatMap(({ actor }) => (actor ? [leave(actor, true)] : [])));
      await Promise.all(inFlight);
    },
  };
}

async function until(check, ms) {
  const end = performance.now() + ms;
  while (!check() && performance.now() < end) await new Promise((resolve) => setTimeout(resolve, 20));
}
