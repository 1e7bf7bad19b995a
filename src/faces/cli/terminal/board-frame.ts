import type { Colours } from './colours.ts';
import { cutCell } from './table.ts';
import type { Terminal } from './terminal.ts';

/** How a task has ended, as shown on its line. */
export interface Ending {
  readonly mark: string;
  readonly text: string;
  readonly colour: keyof Colours;
}

/** The state of one task on the board. */
export type BoardRow =
  | { readonly kind: 'waiting' }
  | { readonly kind: 'running'; readonly since: number; readonly doing: string }
  | { readonly kind: 'ended'; readonly tookMs: number; readonly ending: Ending };

export interface BoardFrame {
  readonly rows: ReadonlyMap<string, BoardRow>;
  /** Counts frames; turns the spinner. */
  readonly count: number;
  readonly now: number;
}

const spinner = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];

/** The lines of one frame. A block taller than the screen cannot be redrawn, so running tasks come first. */
export function frameLines(terminal: Terminal, frame: BoardFrame): string[] {
  const { rows: height, columns } = terminal.size();
  const room = Math.max(1, height - 2);
  const all = [...frame.rows];
  const nameWidth = Math.max(0, ...all.map(([name]) => name.length));
  const lineOf = ([name, row]: readonly [string, BoardRow]): string =>
    painted(columns - 1, rowParts(terminal, frame, name.padEnd(nameWidth), row));
  if (all.length <= room) return all.map(lineOf);
  const first = all.toSorted(([, a], [, b]) => order[a.kind] - order[b.kind]).slice(0, room - 1);
  const rest = cutCell(`… ${all.length - first.length} more`, columns - 1);
  return [...first.map(lineOf), terminal.errColours.dim(rest)];
}

const order: Readonly<Record<BoardRow['kind'], number>> = { running: 0, ended: 1, waiting: 2 };

type Part = readonly [text: string, paint: (text: string) => string];

function rowParts({ errColours }: Terminal, { count, now }: BoardFrame, title: string, row: BoardRow): readonly Part[] {
  const { bold, dim, cyan } = errColours;
  switch (row.kind) {
    case 'waiting':
      return [
        ['· ', dim],
        [`${title}${' '.repeat(10)}waiting`, dim],
      ];
    case 'running':
      return [
        [`${spinner[count % spinner.length]} `, cyan],
        [title, bold],
        [elapsed(now - row.since), dim],
        [row.doing, dim],
      ];
    case 'ended': {
      const paint = errColours[row.ending.colour];
      return [
        [`${row.ending.mark} `, paint],
        [title, bold],
        [elapsed(row.tookMs), dim],
        [row.ending.text, paint],
      ];
    }
  }
}

/** Cuts before painting, because colour codes take no room. */
function painted(width: number, parts: readonly Part[]): string {
  let room = width;
  let text = '';
  for (const [part, paint] of parts) {
    if (room <= 0) break;
    const shown = cutCell(part, room);
    text += paint(shown);
    room -= shown.length;
  }
  return text;
}

/** Keeps a constant width. */
function elapsed(ms: number): string {
  return `${(ms / 1000).toFixed(1).padStart(6)} s  `;
}
