import type { Clock, Timer } from '../../../base/index.ts';
import { type BoardRow, type Ending, frameLines } from './board-frame.ts';
import type { Terminal } from './terminal.ts';

/** One line per task, redrawn in place. Draws nothing if the terminal cannot redraw. */
export interface LiveBoard {
  begin(name: string, doing: string): void;
  goOn(name: string, doing: string): void;
  end(name: string, ending: Ending): void;
  /** Removes the lines and restores the cursor. */
  stop(): void;
}

const frameMs = 100;

export function createLiveBoard(
  deps: { readonly clock: Clock; readonly terminal: Terminal },
  names: readonly string[],
): LiveBoard {
  const { clock, terminal } = deps;
  const rows = new Map<string, BoardRow>(names.map((name) => [name, { kind: 'waiting' }]));
  let count = 0;
  let stopped = !terminal.motion;
  let timer: Timer | undefined;

  function draw(): void {
    if (stopped) return;
    count += 1;
    terminal.live(frameLines(terminal, { rows, count, now: clock.monotonic() }));
    timer = clock.setTimer(frameMs, draw);
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
