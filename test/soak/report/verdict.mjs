const mega = 1024 * 1024;

/** Bounds of what may differ between the second and the last quarter of a run. */
const bounds = {
  descriptors: 24,
  children: 8,
  rssBytes: 24 * mega,
  rssShare: 0.15,
  recordsPerOperation: 0.35,
  // A gigabyte of each is kept. Retention looks once a minute, and a file is removed as a whole.
  diskBytes: (1024 + 128) * mega,
};

/**
 * Whether memory, descriptors and disk were level. The second quarter is compared with the last, by medians: the first
 * warms up, and single samples are chance. Run files and journal grow until retention removes old ones: until then the
 * growth for each operation must be level, and after that their size.
 */
export function levelOf({ samples, rested }, isLong) {
  const quarter = Math.floor(samples.length / 4);
  if (!isLong || quarter < 5) return { judged: false, findings: [] };
  const second = samples.slice(quarter, 2 * quarter);
  const last = samples.slice(-quarter);
  const grown = (key) => median(last.map((one) => one[key])) - median(second.map((one) => one[key]));
  const rssBound = Math.max(bounds.rssBytes, bounds.rssShare * median(second.map(({ rss }) => rss)));
  const findings = [];
  const check = (isBad, words) => isBad && findings.push(words);

  check(grown('rss') > rssBound, `memory grew by ${Math.round(grown('rss') / mega)} MB`);
  check(grown('descriptors') > bounds.descriptors, `descriptors grew by ${grown('descriptors')}`);
  check(grown('children') > bounds.children, `children grew by ${grown('children')}`);
  const [early, late] = [perOperation(second), perOperation(last)];
  check(
    late > early * (1 + bounds.recordsPerOperation) && late - early > 200,
    `an operation costs ${Math.round(late)} bytes of records at the end, ${Math.round(early)} before`,
  );
  for (const [key, what] of [
    ['state', 'the state'],
    ['records', 'the run files'],
  ]) {
    const most = Math.max(...last.map((one) => one[key]));
    check(most > bounds.diskBytes, `${what} take ${Math.round(most / mega)} MB`);
  }
  if (rested !== undefined) {
    const calm = Math.min(...samples.slice(0, quarter).map(({ descriptors }) => descriptors));
    check(rested.descriptors > calm + bounds.descriptors, `${rested.descriptors} descriptors are left after a rest`);
  }
  return { judged: true, findings };
}

function perOperation(part) {
  const [first, last] = [part[0], part.at(-1)];
  return (last.records - first.records) / Math.max(1, last.operations - first.operations);
}

export function median(numbers) {
  const sorted = numbers.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)];
}
