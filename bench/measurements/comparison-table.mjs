import { figure, table, times } from '../harness/table.mjs';

/** Rows of a comparison, grouped by what they have in common. */
export function comparisonTable(rows) {
  const groups = new Map();
  for (const row of rows) {
    const key = `${row.bytes} B payload, ${row.inFlight} in flight`;
    groups.set(key, [...(groups.get(key) ?? []), row]);
  }
  return [...groups].map(([title, members]) => table([title, ...head], members.map(cells))).join('\n\n');
}

const head = ['calls/s', '×', 'p50 ms', '×', 'p99 ms', 'CPU µs', '×', 'MB', 'bad'];

function cells({ name, perSecond, p50, p99, cpu, rss, bad, ratios }) {
  return [
    name,
    figure(perSecond),
    times(ratios.perSecond),
    figure(p50, 3),
    times(ratios.p50),
    figure(p99, 2),
    figure(cpu),
    times(ratios.cpu),
    figure(rss),
    figure(bad),
  ];
}
