/** The known word that a misspelled word most likely means. */
export function didYouMean(word: string, known: readonly string[]): string | undefined {
  return nearestWords(word, known)[0];
}

/** The same for a message: two words if both are equally near. Of more, none is likely, so the first is named. */
export function wordsMeant(word: string, known: readonly string[]): string | undefined {
  const [first, second, third] = nearestWords(word, known);
  return second === undefined || third !== undefined ? first : `${first} or ${second}`;
}

function nearestWords(word: string, known: readonly string[]): readonly string[] {
  const [plain, folded] = [plainOf(word), fold(word)];
  const best = new Set<string>();
  let bestDistance = Math.max(1, Math.floor(plain.length / 3));
  // A longer word is not a typo, and comparing would cost more than it helps.
  if (plain === '' || plain.length > 40 || known.length > 1_000) return [];
  for (const candidate of known) {
    const distance = Math.min(editDistance(plain, plainOf(candidate)), editDistance(folded, fold(candidate)));
    // Something of the word must be right.
    if (distance > bestDistance || distance >= plain.length) continue;
    if (distance < bestDistance) best.clear();
    best.add(candidate);
    bestDistance = distance;
  }
  return [...best];
}

/** Treats `exclude_tools` and `excludeTools` as the same word. */
function plainOf(word: string): string {
  return word.toLowerCase().replace(/[^a-z0-9]/g, '');
}

/** Treats `policy` and `policies` as the same word too. */
function fold(word: string): string {
  return plainOf(word).replace(/ies$/, 'y').replace(/s$/, '');
}

/** Counts insertions, deletions, replacements and transpositions. */
function editDistance(left: string, right: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: right.length + 1 }, (_, column) => column);
  for (let row = 1; row <= left.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= right.length; column += 1) {
      const same = left[row - 1] === right[column - 1];
      let cost = Math.min(
        (last[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + (same ? 0 : 1),
      );
      if (left[row - 1] === right[column - 2] && left[row - 2] === right[column - 1]) {
        cost = Math.min(cost, (beforeLast[column - 2] ?? cost) + 1);
      }
      current.push(cost);
    }
    beforeLast = last;
    last = current;
  }
  return last[right.length] ?? 0;
}
