export interface DiffLine {
  readonly kind: 'removed' | 'added';
  /** Counted from 1, in the text before or after. */
  readonly line: number;
  readonly text: string;
}

/** More differences than this are shown as one block; finding them would take work that grows with their square. */
const mostEdits = 1000;

/** The lines that went and came, in order. */
export function diffLines(before: string, after: string): readonly DiffLine[] {
  const [old, now] = [linesOf(before), linesOf(after)];
  let start = 0;
  while (start < old.length && start < now.length && old[start] === now[start]) start += 1;
  let end = 0;
  while (end < Math.min(old.length, now.length) - start && old.at(-1 - end) === now.at(-1 - end)) end += 1;
  const [left, right] = [old.slice(start, old.length - end), now.slice(start, now.length - end)];
  const common = commonLines(left, right) ?? [];
  const lines: DiffLine[] = [];
  let [i, j] = [0, 0];
  for (const [x, y] of [...common, [left.length, right.length] as const]) {
    for (; i < x; i += 1) lines.push({ kind: 'removed', line: start + i + 1, text: left[i] ?? '' });
    for (; j < y; j += 1) lines.push({ kind: 'added', line: start + j + 1, text: right[j] ?? '' });
    [i, j] = [x + 1, y + 1];
  }
  return lines;
}

function linesOf(text: string): readonly string[] {
  return text === '' ? [] : text.replace(/\r?\n$/, '').split(/\r?\n/);
}

type Pair = readonly [left: number, right: number];

/** Myers' algorithm: the pairs of equal lines on the shortest way from one text to the other. */
function commonLines(left: readonly string[], right: readonly string[]): readonly Pair[] | undefined {
  const most = Math.min(left.length + right.length, mostEdits);
  const trace: Map<number, number>[] = [];
  let furthest = new Map([[1, 0]]);
  for (let edits = 0; edits <= most; edits += 1) {
    trace.push(furthest);
    furthest = new Map(furthest);
    for (let k = -edits; k <= edits; k += 2) {
      const down = k === -edits || (k !== edits && (furthest.get(k - 1) ?? -1) < (furthest.get(k + 1) ?? -1));
      let x = down ? (furthest.get(k + 1) ?? 0) : (furthest.get(k - 1) ?? 0) + 1;
      while (x < left.length && x - k < right.length && left[x] === right[x - k]) x += 1;
      furthest.set(k, x);
      if (x >= left.length && x - k >= right.length) return walkBack(trace, left.length, right.length);
    }
  }
  return undefined;
}

function walkBack(trace: readonly ReadonlyMap<number, number>[], width: number, height: number): readonly Pair[] {
  const pairs: Pair[] = [];
  let [x, y] = [width, height];
  for (let edits = trace.length - 1; edits >= 0; edits -= 1) {
    const furthest = trace[edits] ?? new Map<number, number>();
    const k = x - y;
    const down = k === -edits || (k !== edits && (furthest.get(k - 1) ?? -1) < (furthest.get(k + 1) ?? -1));
    const before = down ? k + 1 : k - 1;
    const startX = edits === 0 ? 0 : (furthest.get(before) ?? 0);
    const startY = edits === 0 ? 0 : startX - before;
    while (x > startX && y > startY && (edits === 0 || x > (down ? startX : startX + 1))) {
      x -= 1;
      y -= 1;
      pairs.push([x, y]);
    }
    [x, y] = [startX, startY];
  }
  return pairs.toReversed();
}
