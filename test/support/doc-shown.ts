/**
 * Compares the output on a page with the real output. Differences between runs are allowed: times, durations, ids,
 * folders below /home/me, and the text that `…` stands for. A line `…` stands for any number of lines. Ids are
 * remembered, so that a later command on the page can use them.
 */
export function difference(shown: readonly string[], said: readonly string[], ids: Map<string, string>): string {
  let next = 0;
  let skips = false;
  for (const line of shown) {
    if (line.trim() === '…') {
      skips = true;
      continue;
    }
    const found = skips ? said.findIndex((each, index) => index >= next && matches(line, each, ids)) : next;
    if (found < 0 || said[found] === undefined) return `shown and not said: ${line}`;
    if (!skips && !matches(line, said[found], ids)) return `shown: ${line}\nsaid:  ${said[found]}`;
    next = found + 1;
    skips = false;
  }
  const left = said.slice(next);
  return skips || left.length === 0 ? '' : `said and not shown: ${left.join('\n')}`;
}

/** The same for a command that prints its lines in order of completion. */
export function differenceInAnyOrder(
  shown: readonly string[],
  said: readonly string[],
  ids: Map<string, string>,
): string {
  const left = [...said];
  for (const line of shown) {
    const found = left.findIndex((each) => matches(line, each, ids));
    if (found < 0) return `shown and not said: ${line}`;
    left.splice(found, 1);
  }
  return left.length === 0 ? '' : `said and not shown: ${left.join('\n')}`;
}

/** The lines that are not blank. */
export function linesOf(text: string): string[] {
  return text.split('\n').filter((line) => line.trim() !== '');
}

const loose: readonly (readonly [RegExp, string])[] = [
  [/…/y, '.*'],
  [/\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?Z?)?/y, '[\\d-]+[T ][\\d:.]+Z?'],
  [/\d\d:\d\d:\d\d/y, '[\\d:]+'],
  [/\/home\/me(?:\/[\w.-]+)*/y, '/[\\w./-]+'],
  [/(?<![\d.])\d+(?:\.\d)? m?s\b/y, '[\\d.]+ m?s'],
  [/(?<![\d.])\d+\.\d(?![\d.])/y, '\\d+\\.\\d'],
  [/\s+/y, '\\s+'],
];
const id = /(?<![0-9A-Za-z])(?=[A-Za-z]*\d)(?=\d*[A-Za-z])[0-9A-Za-z]{8,}(?![0-9A-Za-z])/y;

function matches(shown: string, said: string, ids: Map<string, string>): boolean {
  const found: string[] = [];
  const match = new RegExp(`^${patternOf(shown.trimEnd(), ids, found)}$`).exec(said.trimEnd());
  if (match === null) return false;
  for (const [index, name] of found.entries()) ids.set(name, match[index + 1] ?? '');
  return true;
}

function patternOf(shown: string, ids: ReadonlyMap<string, string>, found: string[]): string {
  let pattern = '';
  for (let at = 0; at < shown.length; ) {
    const word = wordAt(id, shown, at);
    const cut = word !== undefined && shown[at + word.length] === '…';
    const row = word === undefined ? loose.find(([each]) => wordAt(each, shown, at) !== undefined) : undefined;
    if (word !== undefined) {
      pattern += cut ? '[0-9A-Za-z_-]+' : (ids.get(word) ?? '([0-9A-Za-z]+)');
      if (!cut && !ids.has(word)) found.push(word);
      at += word.length;
    } else if (row !== undefined) {
      pattern += row[1];
      at += wordAt(row[0], shown, at)?.length ?? 1;
    } else {
      pattern += (shown[at] ?? '').replace(/[\\^$.*+?()[\]{}|/]/, '\\$&');
      at += 1;
    }
  }
  return pattern;
}

function wordAt(pattern: RegExp, text: string, at: number): string | undefined {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0];
}
