import { operations } from '../operations/table.mjs';
import { pause } from './within.mjs';

const inFlightLimit = 150;

/** Operations at a steady rate, one after the other chosen by the dice, until it is told to stop. */
export function startLoad(world, { rate }) {
  const { dice, tally, population } = world;
  const inFlight = new Map();
  let stopped = false;
  let skipped = 0;

  async function operate(operation, actor) {
    actor.busy++;
    try {
      await operation.run(world, actor);
    } catch (error) {
      tally.wrong(operation.name, `defect of the soak: ${error.stack}`);
    } finally {
      actor.busy--;
    }
  }

  function step() {
    if (inFlight.size >= inFlightLimit) {
      skipped++;
      return;
    }
    const actor = population.take();
    if (actor === undefined) return;
    const operation = dice.weighted(operations);
    const key = Symbol(operation.name);
    const done = operate(operation, actor).finally(() => inFlight.delete(key));
    inFlight.set(key, { name: operation.name, since: performance.now(), done });
  }

  async function loop() {
    const began = performance.now();
    for (let due = 0; !stopped; ) {
      const wanted = ((performance.now() - began) / 1000) * rate;
      // A pause of the machine is not caught up with.
      due = Math.max(due, wanted - rate);
      for (; due < wanted; due++) step();
      await pause(10);
    }
  }

  const running = loop();
  return {
    inFlight,
    skipped: () => skipped,
    /** Waits for what is in flight. */
    async stop() {
      stopped = true;
      await running;
      await Promise.race([Promise.all([...inFlight.values()].map(({ done }) => done)), pause(90_000)]);
      for (const { name } of inFlight.values()) tally.lost(name, 'it did not end within 90 s of the stop');
    },
  };
}
