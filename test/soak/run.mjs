/**
 * The soak: a real hub with thirteen servers and six agents under mixed load, while things go wrong. `--help` has the
 * options, README.md what is checked.
 */
import { readOptions, usage } from './options.mjs';
import { closingTable } from './report/closing-table.mjs';
import { startSampling } from './report/samples.mjs';
import { levelOf } from './report/verdict.mjs';
import { startChaos } from './world/chaos.mjs';
import { startLoad } from './world/load.mjs';
import { pause } from './world/within.mjs';
import { openWorld } from './world/world.mjs';

const options = readOptions(process.argv.slice(2));
if (options.help) process.stdout.write(usage);
// Deadlines that nobody needs any more would keep the process for another minute or two.
else process.exit(await soak(options));

async function soak({ minutes, rate, seed, without, keep }) {
  const print = (line) => process.stdout.write(`${line}\n`);
  print(`soak: ${minutes} minutes, seed ${seed}, ${rate} operations a second`);
  const interrupted = onInterrupt(print);
  const isLong = minutes >= 3;
  const world = await openWorld({ seed, isLong, print });
  const closing = await world.use(async () => {
    await world.warmUp();
    print('soak: every agent sees its tools');
    const sampling = startSampling(world, { everyMs: isLong ? 3000 : 500 });
    const chaos = startChaos(world, { everyMs: isLong ? 4000 : 800, without });
    const load = startLoad(world, { rate });
    const end = performance.now() + minutes * 60_000;
    while (performance.now() < end && !interrupted.aborted && !world.isOver()) {
      const left = Math.min(end, performance.now() + 60_000) - performance.now();
      await Promise.race([pause(left), interrupted.promise, world.hub.ended]);
      print(progressLine(world, sampling.samples.at(-1), load));
    }
    await chaos.stop();
    await load.stop();
    print('soak: all operations have ended');
    await sampling.stop();
    await world.population.closeAll();
    const rested = isLong && !interrupted.aborted ? await world.rest(sampling) : undefined;
    return { samples: sampling.samples.filter((sample) => sample !== rested), rested, chaos: chaos.counts };
  });
  const audit = await world.audit();
  const level = levelOf(closing, isLong);
  const { tally, troubles } = world;
  for (const line of closingTable({ ...closing, tally, troubles, audit, level })) print(line);
  const bad = tally.problems.length + audit.problems.length + level.findings.length;
  if (bad > 0 || keep) print(`kept: ${world.workspace.base} (hub.log, executed.jsonl, the workspace)`);
  else world.workspace.remove();
  print(`soak: ${bad === 0 ? 'good' : `${bad} problems`}, seed ${seed}`);
  if (interrupted.aborted) return 130;
  return bad === 0 ? 0 : 1;
}

function progressLine(world, sample, load) {
  const { tally } = world;
  const sum = (key) => [...tally.kinds.values()].reduce((total, one) => total + one[key], 0);
  const hub =
    sample === undefined ? '' : `, RSS ${Math.round(sample.rss / 1024 / 1024)} MB, ${sample.descriptors} descriptors`;
  const counts = `${tally.total()} operations, ${sum('wrong')} wrong, ${sum('lost')} lost`;
  const now = new Date().toISOString().slice(11, 19);
  return `${now}  ${counts}, ${load.inFlight.size} in flight${hub}, ${sample?.children ?? '-'} children`;
}

/** The first Ctrl-C ends the load and closes everything; the second ends the process at once. */
function onInterrupt(print) {
  const given = { aborted: false };
  given.promise = new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM']) {
      process.once(signal, () => {
        print('soak: stops');
        given.aborted = true;
        resolve();
      });
    }
  });
  return given;
}
