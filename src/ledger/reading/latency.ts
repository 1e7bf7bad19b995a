/** The duration of calls, in milliseconds. */
export interface LatencySummary {
  readonly count: number;
  readonly mean: number;
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
  readonly max: number;
}

/**
 * Percentiles in bounded memory: exact up to a thousand values, then counted in buckets
 * that each span two percent, so a
 * percentile is off by at most one percent however many values there are. Count, mean and max stay exact. A sample of
 * the values would be smaller, but it loses the rare slow calls that p99 is about.
 */
export class Latency {
  #exact: number[] | undefined = [];
  #buckets: Uint32Array | undefined;
  #count = 0;
  #sum = 0;
  #max = 0;

  add(ms: number): void {
    this.#count++;
    this.#sum += ms;
    this.#max = Math.max(this.#max, ms);
    if (this.#exact === undefined) {
      this.#put(ms);
      return;
    }
    this.#exact.push(ms);
    if (this.#exact.length <= maxExact) return;
    this.#buckets = new Uint32Array(bucketCount);
    for (const each of this.#exact) this.#put(each);
    this.#exact = undefined;
  }

  summary(): LatencySummary {
    const sorted = this.#exact?.toSorted((a, b) => a - b);
    const percentile = (share: number): number => {
      const rank = Math.max(1, Math.ceil(share * this.#count));
      return rounded(sorted === undefined ? this.#inBuckets(rank) : (sorted[rank - 1] ?? 0));
    };
    return {
      count: this.#count,
      mean: rounded(this.#count === 0 ? 0 : this.#sum / this.#count),
      p50: percentile(0.5),
      p95: percentile(0.95),
      p99: percentile(0.99),
      max: rounded(this.#max),
    };
  }

  #put(ms: number): void {
    const index = bucketOf(ms);
    if (this.#buckets !== undefined) this.#buckets[index] = (this.#buckets[index] ?? 0) + 1;
  }

  #inBuckets(rank: number): number {
    let seen = 0;
    for (const [index, count] of (this.#buckets ?? []).entries()) {
      seen += count;
      if (seen >= rank) return Math.min(middleOf(index), this.#max);
    }
    return this.#max;
  }
}

const maxExact = 1000;
const growth = 1.02;
/** The ledger's resolution is a microsecond. Calls over eleven days go into the last bucket. */
const smallestMs = 0.001;
const largestMs = 1e9;
const bucketCount = Math.ceil(Math.log(largestMs / smallestMs) / Math.log(growth)) + 1;

/** Bucket 0 is for calls that took no time; bucket n ends at `smallestMs * growth ** n`. */
function bucketOf(ms: number): number {
  if (!(ms > smallestMs)) return 0;
  return Math.min(bucketCount - 1, Math.ceil(Math.log(ms / smallestMs) / Math.log(growth)));
}

/** The value with the same relative distance to both ends of the bucket. */
function middleOf(index: number): number {
  return index === 0 ? 0 : (smallestMs * growth ** index * 2) / (1 + growth);
}

function rounded(ms: number): number {
  return Math.round(ms * 1000) / 1000;
}
