import { usageOf } from './processes.mjs';

const warm = 100;

/**
 * Everybody stays up, and the rounds are interleaved, so that a slow minute of the machine hits all of them. A row is
 * one contender with one payload and so many calls in flight; its figures are medians over the rounds.
 */
export async function compare(bench, contenders, { referenceOf, bytes, inFlight, rounds, calls }) {
  const failures = [];
  const running = await startAll(contenders, failures, bench.progress);
  const samples = new Map();
  for (let round = 1; round <= rounds; round++) {
    for (const size of bytes) {
      for (const { contender, started } of rotated(running, round)) {
        for (const count of inFlight) {
          bench.progress(`round ${round} of ${rounds}: ${contender.name}, ${size} B, ${count} in flight`);
          const job = { bytes: size, inFlight: count, calls: callsAt(count, calls), warm };
          await sample(started, job).then(
            (figures) => keep(samples, keyOf(contender.name, size, count), { round, ...figures }),
            (error) => failures.push({ name: contender.name, error: error.message }),
          );
        }
      }
    }
  }
  await Promise.all(running.map(({ started }) => bench.processes.stop(started.process)));
  const rows = running.flatMap(({ contender }) =>
    bytes.flatMap((size) =>
      inFlight.map((count) => toRow(samples, contender, referenceOf(contender), { size, count })),
    ),
  );
  return { rows, failures: [...failures, ...badAnswers(rows)] };
}

export function badAnswers(rows) {
  return rows
    .filter(({ bad }) => bad > 0)
    .map(({ name, bad, why }) => ({ name, error: `${bad} answers were bad; the first: ${why}` }));
}

export function median(values) {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

/** Nobody is always first: the machine is not the same after a loud neighbour as after a quiet one. */
function rotated(list, by) {
  const start = by % Math.max(1, list.length);
  return [...list.slice(start), ...list.slice(0, start)];
}

async function startAll(contenders, failures, progress) {
  const running = [];
  for (const contender of contenders) {
    progress(`starting ${contender.name}`);
    await contender.start().then(
      (started) => running.push({ contender, started }),
      (error) => failures.push({ name: contender.name, error: error.message }),
    );
  }
  return running;
}

/** One call at a time takes longest and varies least. */
function callsAt(inFlight, calls) {
  return inFlight === 1 ? Math.max(500, Math.floor(calls / 5)) : calls;
}

async function sample({ process: { pid }, load }, job) {
  const before = usageOf(pid);
  const figures = await load(job);
  const after = usageOf(pid);
  return { ...figures, cpu: (after.cpu - before.cpu) / (job.calls + warm + 1), rss: after.rss };
}

function toRow(samples, contender, reference, { size, count }) {
  const own = samples.get(keyOf(contender.name, size, count)) ?? [];
  const base = samples.get(keyOf(reference, size, count)) ?? [];
  const of = (list, key) => median(list.map((one) => one[key]));
  const ratio = (key) => of(own, key) / of(base, key);
  return {
    name: contender.name,
    reference,
    bytes: size,
    inFlight: count,
    perSecond: of(own, 'perSecond'),
    p50: of(own, 'p50'),
    p99: of(own, 'p99'),
    cpu: of(own, 'cpu'),
    rss: own.at(-1)?.rss ?? Number.NaN,
    bad: own.reduce((sum, { bad }) => sum + bad, 0),
    why: own.find(({ why }) => why !== undefined)?.why,
    ratios: { perSecond: ratio('perSecond'), p50: ratio('p50'), cpu: ratio('cpu') },
    rounds: own,
  };
}

function keep(samples, key, figures) {
  samples.set(key, [...(samples.get(key) ?? []), figures]);
}

function keyOf(name, bytes, inFlight) {
  return `${name} ${bytes} ${inFlight}`;
}
