/** @typedef {{ column: number, text: string, style: string }} Run Characters of one style, side by side. */

/**
 * What a terminal shows after this output, line by line. It knows what `qm` writes: colours, and moves within a line.
 * @param {string} output
 * @param {number} columns
 * @returns {Run[][]}
 */
export function screenOf(output, columns) {
  const lines = [[]];
  let [row, column, style] = [0, 0, new Set()];
  const lineAt = (index) => {
    while (lines.length <= index) lines.push([]);
    return lines[index];
  };
  for (const [, sequence, final, single] of output.matchAll(pieces)) {
    if (single === undefined) {
      const count = Number(sequence) || 0;
      if (final === 'm') style = nextStyle(style, sequence);
      else if (final === 'K' || final === 'J') {
        lineAt(row).length = Math.min(lineAt(row).length, column);
        if (final === 'J') lines.length = row + 1;
      } else if (final === 'G') column = Math.max(0, count - 1);
      else if (final === 'A') row = Math.max(0, row - (count || 1));
      else if (!sequence.startsWith('?')) throw new Error(`the demo shows no ESC [ ${sequence}${final}`);
    } else if (single === '\r') column = 0;
    else if (single === '\n') row += 1;
    else {
      if (column === columns) [row, column] = [row + 1, 0];
      lineAt(row)[column] = { single, style: [...style].sort().join(' ') };
      column += 1;
    }
  }
  return lines.map(runsOf);
}

const esc = String.fromCharCode(27);
/** A control sequence with its parameters and its last letter, or a single character. */
const pieces = new RegExp(`${esc}\\[([\\d;?]*)([A-Za-z])|([^${esc}])`, 'gu');
const styles = { 1: 'bold', 2: 'dim', 31: 'red', 32: 'green', 33: 'yellow', 36: 'cyan' };
const ends = { 22: ['bold', 'dim'], 39: ['red', 'green', 'yellow', 'cyan'], 0: Object.values(styles) };

function nextStyle(style, sequence) {
  const next = new Set(style);
  for (const code of sequence === '' ? ['0'] : sequence.split(';')) {
    if (styles[code] !== undefined) next.add(styles[code]);
    else for (const name of ends[code] ?? []) next.delete(name);
  }
  return next;
}

function runsOf(cells) {
  const runs = [];
  for (let column = 0; column < cells.length; column += 1) {
    const { single = ' ', style = '' } = cells[column] ?? {};
    const last = runs.at(-1);
    if (last !== undefined && last.style === style) last.text += single;
    else runs.push({ column, text: single, style });
  }
  // Spaces show nothing, and a font may make them narrower than the others.
  return runs.flatMap(({ column, text, style }) => {
    const trimmed = text.trim();
    if (trimmed === '') return [];
    return [{ column: column + text.length - text.trimStart().length, text: trimmed, style }];
  });
}
