import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { agentNames } from './agents.mjs';
import { childrenOf } from './processes.mjs';
import { httpNames, stdioNames } from './servers.mjs';
import { pause } from './within.mjs';

const files = ['quartermaster.yaml', '.mcp.json'];
/** How long a child may take to start on a busy machine. */
const childMs = 30_000;
/** A server behind an open circuit is tried once a minute. */
const circuitMs = 65_000;

/** What goes wrong, one event after the other. Each ends by itself, with everything as it was. */
const events = {
  'kill child': async (world) => {
    const server = world.dice.pick(stdioNames);
    const over = world.troubles.begin(server, 'kill child', childMs);
    signal(world, server, 'SIGKILL');
    over();
  },
  'hang child': async (world) => {
    const server = world.dice.pick(stdioNames);
    const over = world.troubles.begin(server, 'hang child', childMs);
    const stopped = signal(world, server, 'SIGSTOP');
    await pause(world.dice.between(500, 4000));
    for (const pid of stopped) kill(pid, 'SIGCONT');
    over();
  },
  'upstream down': async (world) => {
    const server = world.dice.pick(httpNames);
    const over = world.troubles.begin(server, 'upstream down', circuitMs);
    world.upstreams.down(server);
    await pause(world.dice.between(100, 4000));
    await world.upstreams.up(server);
    over();
  },
  'upstream hung': async (world) => {
    const server = world.dice.pick(httpNames);
    const over = world.troubles.begin(server, 'upstream hung', circuitMs);
    world.upstreams.stop(server);
    await pause(world.dice.between(500, 5000));
    world.upstreams.goOn(server);
    over();
  },
  'rule changed': async ({ configuration }) =>
    configuration.change({ toggled: configuration.current().toggled === 'allow' ? 'deny' : 'allow' }),
  'server added or removed': async ({ configuration }) =>
    configuration.change({ guest: !configuration.current().guest }),
  'server changed': async ({ configuration }) => configuration.change({ turn: configuration.current().turn + 1 }),

  'file missing': async ({ workspace, dice }) => {
    const file = join(workspace.folder, dice.pick(files));
    renameSync(file, `${file}.away`);
    await pause(dice.between(50, 2500));
    renameSync(`${file}.away`, file);
  },
  'file cut': async (world) => {
    const { workspace, configuration, dice } = world;
    const file = dice.pick(files);
    const lines = workspace.textsFor(configuration.current())[file].split('\n');
    const kept = dice.between(0, lines.length - 2);
    const over = world.troubles.cut();
    writeFileSync(
      join(workspace.folder, file),
      lines
        .slice(0, kept)
        .map((line) => `${line}\n`)
        .join(''),
    );
    await pause(dice.between(50, 1500));
    configuration.write();
    over();
  },
  'token replaced': ({ tokens, population, dice }) =>
    tokens.rotate(dice.pick(agentNames), { onReplaced: population.doom }),
  'qm stdio killed': async ({ population }) => {
    const slot = population.slots.find(({ kind, actor }) => kind === 'stdio' && actor !== undefined);
    if (slot === undefined) return;
    slot.actor.doomed = true;
    population.replace(slot, false);
  },
  'commands beside': async (world) => {
    const nonce = world.nonce({ name: 'cli' });
    const call = ['call', 'plain.write', '--agent', 'lead', `nonce=${nonce}`];
    const command = world.dice.pick([['ls'], ['calls', '--limit', '20'], ['token', 'ls'], ['summarize'], call]);
    world.tally.done('command');
    await world.hub.qm(...command);
    world.tally.right('command');
  },
};

export const chaosNames = Object.keys(events);

/** Runs events on the schedule of the seed. Events of one sort do not overlap: the loop waits for each. */
export function startChaos(world, { everyMs, without }) {
  const names = chaosNames.filter((name) => !without.includes(name));
  const counts = Object.fromEntries(names.map((name) => [name, 0]));
  let stopped = names.length === 0;
  let wake = () => {};

  async function loop() {
    // In turns: a short run meets each sort too.
    for (let turn = world.dice.between(0, 99); !stopped; turn++) {
      await Promise.race([pause(everyMs * (0.5 + world.dice.next())), new Promise((resolve) => (wake = resolve))]);
      if (stopped) return;
      const name = names[turn % names.length];
      counts[name]++;
      await events[name](world).catch((error) => world.tally.wrong(`chaos: ${name}`, String(error.stack ?? error)));
    }
  }
  const running = loop();
  return {
    counts,
    async stop() {
      stopped = true;
      wake();
      await running;
    },
  };
}

/** To every child of the hub that is this server; gives their ids. */
function signal(world, server, which) {
  const pids = childrenOf(world.hub.pid)
    .filter(({ label }) => label === server)
    .map(({ pid }) => pid);
  for (const pid of pids) kill(pid, which);
  return pids;
}

function kill(pid, which) {
  try {
    process.kill(pid, which);
  } catch {
    // It is gone already.
  }
}
