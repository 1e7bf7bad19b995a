/**
 * Keeps `inFlight` calls in flight until `calls` have been made. A call that failed or whose answer was wrong counts
 * as bad and gives no latency.
 */
export async function closedLoop(act, { inFlight, calls }) {
  const latencies = [];
  let started = 0;
  let bad = 0;
  let why;

  async function oneAfterTheOther() {
    while (started++ < calls) {
      const outcome = await act().catch((error) => ({ good: false, why: String(error) }));
      if (outcome.good) latencies.push(outcome.ms);
      else {
        bad++;
        why ??= outcome.why;
      }
    }
  }

  const begin = process.hrtime.bigint();
  await Promise.all(Array.from({ length: inFlight }, oneAfterTheOther));
  const seconds = Number(process.hrtime.bigint() - begin) / 1e9;
  latencies.sort((a, b) => a - b);
  return {
    calls,
    bad,
    ...(why === undefined ? {} : { why }),
    perSecond: calls / seconds,
    p50: quantile(latencies, 0.5),
    p99: quantile(latencies, 0.99),
  };
}

function quantile(sorted, share) {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? null;
}
