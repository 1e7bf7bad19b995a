/** Merges lists of spans (alternating start and end, in order) in linear time. */
export function merged(lists: readonly (readonly number[])[]): readonly number[] {
  const filled = lists.filter((spans) => spans.length > 0);
  return filled.length > 1 ? filled.reduce(mergedPair) : (filled[0] ?? []);
}

function mergedPair(left: readonly number[], right: readonly number[]): number[] {
  const spans: number[] = [];
  let [one, other] = [0, 0];
  while (one < left.length || other < right.length) {
    const isLeft = other >= right.length || (left[one] ?? Number.POSITIVE_INFINITY) <= (right[other] ?? 0);
    const [from, at] = isLeft ? [left, one] : [right, other];
    addSpan(spans, [from[at] ?? 0, from[at + 1] ?? 0]);
    if (isLeft) one += 2;
    else other += 2;
  }
  return spans;
}

/** Overlapping spans become one. Adjacent spans stay separate. */
export function addSpan(spans: number[], [start, end]: readonly [start: number, end: number]): void {
  let [first, last] = [start, end];
  while (spans.length > 0 && first < (spans.at(-1) ?? 0)) {
    last = Math.max(last, spans.pop() ?? 0);
    first = Math.min(first, spans.pop() ?? 0);
  }
  spans.push(first, last);
}
