/** Counts operations by kind, and remembers what was wrong. */
export function createTally(print) {
  const kinds = new Map();
  const problems = [];
  const errors = new Map();

  function of(kind) {
    if (!kinds.has(kind)) kinds.set(kind, { done: 0, right: 0, failed: 0, wrong: 0, lost: 0 });
    return kinds.get(kind);
  }
  function problem(sort, kind, words) {
    of(kind)[sort]++;
    problems.push({ sort, kind, words });
    if (problems.length <= 40) print(`${sort.toUpperCase()} ${kind}: ${words}`);
  }
  return {
    kinds,
    problems,
    /** Expected failures, by server and code. */
    errors,
    total: () => [...kinds.values()].reduce((sum, { done }) => sum + done, 0),
    done: (kind) => void of(kind).done++,
    right: (kind) => void of(kind).right++,
    /** An error that was to be expected for what was done. */
    failed(kind, server, code) {
      of(kind).failed++;
      const key = `${server} ${code}`;
      errors.set(key, (errors.get(key) ?? 0) + 1);
    },
    late: (what) => void errors.set(`late ${what}`, (errors.get(`late ${what}`) ?? 0) + 1),
    wrong: (kind, words) => problem('wrong', kind, words),
    lost: (kind, words) => problem('lost', kind, words),
  };
}
