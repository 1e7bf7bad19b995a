import { badAnswers } from '../harness/compare.mjs';
import { quartermaster } from '../harness/contenders.mjs';
import { usageOf } from '../harness/processes.mjs';
import { figure, table } from '../harness/table.mjs';
import { httpServer, stdioServer } from '../harness/workspace.mjs';

const steps = 10;

/** Resident memory while the calls go through, with 32 in flight; flat is what it has to be. */
export async function measureMemory(bench, { memoryCalls }) {
  const contenders = [
    quartermaster(bench, { name: 'stdio', upstream: 'stdio', servers: () => ({ echo: stdioServer() }) }),
    quartermaster(bench, {
      name: 'http',
      upstream: 'http',
      servers: async () => ({ echo: httpServer((await bench.echoHttp()).url) }),
    }),
  ];
  const curves = [];
  for (const { name, start } of contenders) {
    const started = await start();
    curves.push({ name, points: await follow(bench, name, started, memoryCalls) });
    await bench.processes.stop(started.process);
  }
  const rows = (curves[0]?.points ?? []).map(({ calls }, index) => [
    figure(calls),
    ...curves.map(({ points }) => figure(points[index].rss, 1)),
  ]);
  const peaks = curves.map(({ points }) => figure(points.at(-1).peak, 1));
  return {
    title: `Memory: resident MB of the hub after so many calls (goal: under 120 after 100,000)`,
    text: table(['calls', ...curves.map(({ name }) => `${name} upstream`)], [...rows, ['highest ever', ...peaks]]),
    rows: curves,
    failures: curves.flatMap(({ name, points }) => badAnswers(points.map((point) => ({ name, ...point })))),
  };
}

async function follow(bench, name, { process: { pid }, load }, total) {
  const points = [{ calls: 0, bad: 0, ...usageOf(pid) }];
  let done = 0;
  while (done < total) {
    bench.progress(`memory, ${name} upstream: ${done} of ${total} calls`);
    const calls = Math.min(Math.ceil(total / steps), total - done);
    const { bad, why } = await load({ bytes: 32, inFlight: 32, calls, warm: 0 });
    done += calls;
    points.push({ calls: done, bad, why, ...usageOf(pid) });
  }
  return points;
}
