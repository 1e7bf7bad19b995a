import { median } from './verdict.mjs';

const mega = 1024 * 1024;

/** Everything that is worth knowing at the end, as lines. */
export function closingTable({ tally, samples, rested, audit, chaos, troubles, level }) {
  return [
    '',
    ...operationLines(tally),
    '',
    ...quarterLines(samples, rested),
    '',
    ...(audit === undefined ? [] : auditLines(audit)),
    `chaos         ${Object.entries(chaos)
      .map(([name, count]) => `${name} ${count}`)
      .join(', ')}`,
    ...recoveryLines(troubles),
    ...busyLines(samples),
    `expected      ${[...tally.errors]
      .toSorted()
      .map(([key, count]) => `${key} ${count}`)
      .join(', ')}`,
    '',
    `level: ${levelWords(level)}`,
  ];
}

function operationLines({ kinds }) {
  const head = ['operation', 'done', 'right', 'failed as expected', 'wrong', 'lost'];
  const rows = [...kinds].toSorted().map(([kind, one]) => [kind, one.done, one.right, one.failed, one.wrong, one.lost]);
  const sums = head.slice(1).map((_, column) => rows.reduce((sum, row) => sum + row[column + 1], 0));
  return columns([head, ...rows, ['all', ...sums]]);
}

function quarterLines(samples, rested) {
  if (samples.length < 4) return [];
  const head = [
    'hub',
    'RSS MB',
    'descriptors',
    'threads',
    'children',
    'records MB',
    'state MB',
    '/healthz p50 ms',
    'max ms',
  ];
  const rows = [0.25, 0.5, 0.75, 1].map((part) => {
    const end = Math.round(samples.length * part);
    const group = samples.slice(Math.max(0, end - Math.ceil(samples.length / 4)), end);
    return row(`${part * 100} %`, group);
  });
  return columns([head, ...rows, ...(rested === undefined ? [] : [row('rested', [rested])])]);

  function row(name, group) {
    const mid = (key) => median(group.map((one) => one[key]));
    const megabytes = (value) => (value / mega).toFixed(1);
    const last = group.at(-1);
    const slowest = Math.max(...group.map(({ healthMs }) => healthMs));
    const levels = [megabytes(mid('rss')), mid('descriptors'), mid('threads'), mid('children')];
    return [
      name,
      ...levels,
      megabytes(last.records),
      megabytes(last.state),
      mid('healthMs').toFixed(1),
      slowest.toFixed(0),
    ];
  }
}

function auditLines({ counts, problems }) {
  return [
    `audit log     ${Object.entries(counts)
      .map(([name, count]) => `${name} ${count}`)
      .join(', ')}`,
    ...problems.slice(0, 20).map((words) => `  ${words}`),
  ];
}

function recoveryLines({ recoveries }) {
  return [...recoveries].map(([what, times]) => {
    const [middle, longest] = [median(times), Math.max(...times)].map((ms) => `${(ms / 1000).toFixed(1)} s`);
    return `recovery      ${what}: median ${middle}, longest ${longest}`;
  });
}

function busyLines(samples) {
  if (samples.length < 2) return [];
  const [first, last] = [samples[0], samples.at(-1)];
  const each = (last.cpuMs - first.cpuMs) / Math.max(1, last.operations - first.operations);
  const slowest = Math.max(...samples.map(({ healthMs }) => healthMs)).toFixed(0);
  const ownDelay = Math.max(...samples.map(({ ownDelayMs }) => ownDelayMs)).toFixed(0);
  return [
    `hub           ${each.toFixed(1)} ms of processor time an operation; /healthz at most ${slowest} ms, the soak itself late by at most ${ownDelay} ms`,
  ];
}

function levelWords({ judged, findings }) {
  if (!judged) return 'too short to judge';
  if (findings.length > 0) return `NO: ${findings.join('; ')}`;
  return 'yes (the disk grows by the records alone: nothing removes old ones yet)';
}

function columns(rows) {
  const widths = rows[0].map((_, column) => Math.max(...rows.map((cells) => String(cells[column]).length)));
  return rows.map((cells) =>
    cells
      .map((cell, column) => (column === 0 ? String(cell).padEnd(widths[0]) : String(cell).padStart(widths[column])))
      .join('  '),
  );
}
