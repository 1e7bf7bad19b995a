import type { Clock, Timer } from '../../base/index.ts';
import type { Colours } from './colours.ts';
import { cut } from './table.ts';
import type { Terminal } from './terminal.ts';

/** One line for each thing that is under way, redrawn in place. Nothing is drawn where nothing can move. */
export interface LiveBoard {
  begin(name: string, doing: string): void;
  goOn(name: string, doing: string): void;
  end(name: string, ending: Ending): void;
  /** Takes the lines away and gives the cursor back. */
  stop(): void;
}

export interface Ending {
  readonly mark: string;
  readonly text: string;
  readonly colour: keyof Colours;
}

type Row =
  | { readonly kind: 'waiting' }
  | { readonly kind: 'running'; readonly since: number; readonly doing: string }
  | { readonly kind: 'ended'; readonly tookMs: number; readonly ending: Ending };

const frameMs = 100;
const spinner = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];

export function createLiveBoard(
  deps: { readonly clock: Clock; readonly terminal: Terminal },
  names: readonly string[],
): LiveBoard {
  const { clock, terminal } = deps;
  const rows = new Map<string, Row>(names.map((name) => [name, { kind: 'waiting' }]));
  const nameWidth = Math.max(0, ...names.map((name) => name.length));
  let frame = 0;
  let stopped = !terminal.motion;
  let timer: Timer | undefined;

  function draw(): void {
    if (stopped) return;
    frame += 1;
    terminal.live(frameLines());
    timer = clock.setTimer(frameMs, draw);
  }

  /** A block higher than the screen could not be redrawn; what is under way matters most. */
  function frameLines(): string[] {
    const { rows: height } = terminal.size();
    const room = Math.max(1, height - 2);
    const all = [...rows];
    if (all.length <= room) return all.map(([name, row]) => line(name, row));
    const order = { running: 0, ended: 1, waiting: 2 };
    const first = all.toSorted(([, a], [, b]) => order[a.kind] - order[b.kind]).slice(0, room - 1);
    const rest = cut(`… ${all.length - first.length} more`, terminal.size().columns - 1);
    return [...first.map(([name, row]) => line(name, row)), terminal.errColours.dim(rest)];
  }

  function line(name: string, row: Row): string {
    const { bold, dim, cyan } = terminal.errColours;
    const title = name.padEnd(nameWidth);
    switch (row.kind) {
      case 'waiting':
        return painted([
          ['· ', dim],
          [`${title}${' '.repeat(10)}waiting`, dim],
        ]);
      case 'running':
        return painted([
          [`${spinner[frame % spinner.length]} `, cyan],
          [title, bold],
          [elapsed(clock.monotonic() - row.since), dim],
          [row.doing, dim],
        ]);
      case 'ended': {
        const paint = terminal.errColours[row.ending.colour];
        return painted([
          [`${row.ending.mark} `, paint],
          [title, bold],
          [elapsed(row.tookMs), dim],
          [row.ending.text, paint],
        ]);
      }
    }
  }

  /** Cut before it is painted: colours take no room. */
  function painted(parts: readonly (readonly [text: string, paint: (text: string) => string])[]): string {
    let room = terminal.size().columns - 1;
    let text = '';
    for (const [part, paint] of parts) {
      if (room <= 0) break;
      const shown = cut(part, room);
      text += paint(shown);
      room -= shown.length;
    }
    return text;
  }

  draw();
  return {
    begin(name, doing) {
      rows.set(name, { kind: 'running', since: clock.monotonic(), doing });
    },
    goOn(name, doing) {
      const row = rows.get(name);
      if (row?.kind === 'running') rows.set(name, { ...row, doing });
    },
    end(name, ending) {
      const row = rows.get(name);
      const tookMs = row?.kind === 'running' ? clock.monotonic() - row.since : 0;
      rows.set(name, { kind: 'ended', tookMs, ending });
    },
    stop() {
      timer?.cancel();
      if (!stopped) terminal.live([]);
      stopped = true;
    },
  };
}

/** Of one width for as long as anybody watches. */
function elapsed(ms: number): string {
  return `${(ms / 1000).toFixed(1).padStart(6)} s  `;
}
